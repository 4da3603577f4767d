// DEPS: stator::dialects::Graph::Interpreter
// Normalisations, attention and resizing against NumPy and ONNX Runtime.
#include "test/unit/dialects/Graph/InterpretOp.h"

using namespace stator;
using namespace stator::graph;
using namespace stator::graph::test;

TEST_CASE("batch norm", "[interpreter]") {
  checkOp("batch_norm", "axis = 1 : i64, epsilon = 1.0e-3 : f64",
          {f32({2, 3, 2}, {0.25, -0.5, -0.875, -0.25, 0.25, -0.5, -1.5, -1.625, -1.875, -1.25, -0.375, -0.875}), f32({3}, {1, 2, -1}),
           f32({3}, {0, 1, 2}), f32({3}, {0.5, -0.5, 0}), f32({3}, {1, 0.25, 4})},
          {f32({2, 3, 2}, {-0.249875098, -0.999500394, -0.497009039, 1.99800611, 1.87501562, 2.24996877, -1.99900079, -2.12393832,
                           -4.48903322, -1.99401808, 2.18747663, 2.4374454})});
}

TEST_CASE("layer norm and rms norm", "[interpreter]") {
  const TensorValue x = f32({2, 3, 2}, {0.25, -0.5, -0.875, -0.25, 0.25, -0.5, -1.5, -1.625, -1.875, -1.25, -0.375, -0.875});
  const TensorValue scale = f32({3, 2}, {-1.375, -0.75, 0.875, -0.75, 1.75, 0.375});
  const TensorValue bias = f32({3, 2}, {-1.5, 2, 1.625, 1.125, -1.375, 1.25});
  checkOp("layer_norm", "axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>", {x, scale, bias},
          {f32({2, 3, 2}, {-3.24283004, 2.41827917, 0.338474542, 1.08697462, 0.843147337, 1.04086041, -0.812513769, 2.56248879, 0.531271875,
                           1.125, 1.68743873, 1.5312444})});
  checkOp("layer_norm", "axis = 2 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>", {x},
          {f32({2, 3, 2}, {0.999964476, -0.999964476, -0.9999488, 0.9999488, 0.999964476, -0.999964476, 0.998722434, -0.998722434,
                           -0.9999488, 0.9999488, 0.999920011, -0.999920011})});
  checkOp("layer_norm", "axis = 1 : i64, epsilon = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 1>", {x, bias},
          {f32({2, 3, 2}, {-0.232487217, 1.44229436, 0.154685169, 1.17570055, -0.107487217, 0.692294359, -1.99998999, 1.25001502,
                           0.375025004, 1.125, 0.374965012, 1.99998498})});
  checkOp("rms_norm", "axis = 1 : i64, epsilon = 1.0e-6 : f64", {x, scale},
          {f32({2, 3, 2}, {-0.698499262, 0.76199919, -1.55574834, 0.380999595, 0.888999045, -0.380999595, 1.53198612, 0.905264497,
                           -1.21862531, 0.69635731, -0.487450123, -0.243725061})});
  checkOp("rms_norm", "axis = 2 : i64, epsilon = 1.0e-6 : f64", {x},
          {f32({2, 3, 2}, {0.632453501, -1.264907, -1.35979855, -0.388513863, 0.632453501, -1.264907, -0.959232748, -1.03916883,
                           -1.17669654, -0.784464359, -0.557085395, -1.29986596})});
}

TEST_CASE("softmax", "[interpreter]") {
  const TensorValue x = f32({2, 3, 2}, {0.25, -0.5, -0.875, -0.25, 0.25, -0.5, -1.5, -1.625, -1.875, -1.25, -0.375, -0.875});
  checkOp("softmax", "axis = 1 : i64", {f32({2, 3}, {1, 2, 3, 1000, -INFINITY, 1000})},
          {f32({2, 3}, {0.0900305733, 0.244728476, 0.665240943, 0.5, 0, 0.5})});
  checkOp("softmax", "axis = 1 : i64", {x},
          {f32({2, 3, 2}, {0.430171818, 0.304504335, 0.13965635, 0.3909913, 0.430171818, 0.304504335, 0.209753275, 0.218723074, 0.14416118,
                           0.318240196, 0.64608556, 0.463036746})});
  checkOp("softmax", "axis = 0 : i64", {f32({2}, {-INFINITY, -INFINITY})}, {f32({2}, {NAN, NAN})});
  checkOp("log_softmax", "axis = 1 : i64", {x},
          {f32({2, 3, 2}, {-0.84357053, -1.18906999, -1.96857059, -0.939069927, -0.84357053, -1.18906999, -1.56182337, -1.51994884,
                           -1.93682337, -1.14494884, -0.436823338, -0.7699489})});
  checkOp("log_softmax", "axis = 0 : i64", {f32({2}, {0, 1000})}, {f32({2}, {-1000, 0})});
  checkOp("softmax", "axis = 1 : i64", {f32({2, 0}, {})}, {f32({2, 0}, {})});
}

TEST_CASE("gelu", "[interpreter]") {
  checkOp("gelu", "", {f32({7}, {-3, -1, 0, 0.5, 2, INFINITY, NAN})},
          {f32({7}, {-0.00404969417, -0.158655256, 0, 0.345731229, 1.95449972, INFINITY, NAN})});
  checkOp("gelu", "approximate = #graph.gelu_approximation<tanh>", {f32({7}, {-3, -1, 0, 0.5, 2, INFINITY, NAN})},
          {f32({7}, {-0.00363739207, -0.158808008, 0, 0.345714003, 1.95459771, INFINITY, NAN})});
}

TEST_CASE("attention", "[interpreter]") {
  const TensorValue q = f32({2, 3, 4}, {0.375,  0.5, 0.5,   0.25,   -0.375, 0.875, 1,     0.375, -0.25, 0,     0.125, -0.875,
                                        -0.875, 0,   0.125, -0.625, -0.5,   -0.75, 0.875, 0,     -0.5,  0.625, 1,     -0.375});
  const TensorValue k =
      f32({2, 5, 4}, {0.875, 0.625, 0.625, 0,    0.875, -0.75,  -0.875, 1,     0,     -0.25,  0.5,    -0.375, 0.25,  0.75,
                      0.625, -0.75, 1,     0.5,  0.375, -0.625, 0.875,  -0.25, 1,     -0.625, -0.875, 0.75,   0.125, -0.25,
                      1,     1,     -1,    0.25, 0.625, 0.375,  0.25,   0,     0.125, -0.375, -0.75,  -0.25});
  const TensorValue v =
      f32({2, 5, 2}, {0.375, 0.875, 1, -0.625, -1, 1, 0.375, 0.5, 0.625, -0.25, 0.75, 0.25, 0.25, -0.25, -0.375, -0.25, 0.5, 0, -1, -1});
  checkOp("attention", "scale = 0.5 : f64", {q, k, v},
          {f32({2, 3, 2}, {0.29600811, 0.351185679, 0.218428329, 0.455242813, 0.179597229, 0.395937651, 0.0543831624, -0.270495176,
                           0.173978299, -0.183589771, 0.213369191, -0.159233093})});
  checkOp("attention", "scale = 0.5 : f64, causal = true", {q, k, v},
          {f32({2, 3, 2}, {0.375, 0.875, 0.523706198, 0.518105149, -0.118036844, 0.626471281, 0.75, 0.25, 0.53970021, 0.0397002026,
                           0.331022263, -0.0662616342})});
  checkOp("attention", "scale = 0.5 : f64", {q, k, v, i1({1, 3, 5}, {1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0})},
          {f32({2, 3, 2}, {0.179196551, 0.513161659, 0.121583425, 0.623230875, 0.375, 0.649929345, -0.0435162261, -0.280752301, 0.440929234,
                           0.00205375743, 0.63958174, 0.139581755})});
  checkOp("attention", "scale = 0.5 : f64, causal = true",
          {q, k, v, f32({2, 1, 5}, {-2, 1.25, -0.75, -0.25, 2, -0.5, -1, -1.125, 1.5, -1.125})},
          {f32({2, 3, 2}, {0.375, 0.875, 0.930955529, -0.459293276, 0.530283511, -0.195455119, 0.75, 0.25, 0.597151339, 0.0971513391,
                           0.424136996, -0.00150634686})});
  checkOp("attention", "scale = 1.0 : f64",
          {f32({3, 4}, {0.375, 0.5, 0.5, 0.25, -0.375, 0.875, 1, 0.375, -0.25, 0, 0.125, -0.875}),
           f32({5, 4},
               {0.875, 0.625, 0.625, 0, 0.875, -0.75, -0.875, 1, 0, -0.25, 0.5, -0.375, 0.25, 0.75, 0.625, -0.75, 1, 0.5, 0.375, -0.625}),
           f32({5, 2}, {0.375, 0.875, 1, -0.625, -1, 1, 0.375, 0.5, 0.625, -0.25})},
          {f32({3, 2}, {0.320757478, 0.396128654, 0.221729279, 0.536945224, 0.126973942, 0.445022076})});
  checkOp("attention", "scale = 1.0 : f64",
          {f32({1, 4}, {0.375, 0.5, 0.5, 0.25}), f32({1, 4}, {0.875, 0.625, 0.625, 0}), f32({1, 2}, {0.375, 0.875}), i1({1, 1}, {0})},
          {f32({1, 2}, {NAN, NAN})});
}

TEST_CASE("resizing", "[interpreter]") {
  const TensorValue g = f32({1, 1, 2, 4}, {0.375, -1.125, 1.25, 0.875, 0.5, -0.25, -0.625, 1.875});
  const TensorValue h = f32({1, 1, 1, 7}, {1.125, -0.5, -2, -1.5, -0.25, -0.125, -0.5});
  checkOp("resize", "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<half_pixel>", {g},
          {f32({1, 1, 3, 6}, {0.375, -0.375, -0.729166746, 0.854166389, 1.0625, 0.875, 0.4375, -0.125, -0.520833373, 0.145833224, 0.84375,
                              1.375, 0.5, 0.125, -0.3125, -0.56249994, 0.625, 1.875})});
  checkOp("resize", "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<asymmetric>", {g},
          {f32({1, 1, 3, 6}, {0.375, -0.625, -0.333333224, 1.25, 0.99999994, 0.875, 0.458333343, -0.208333343, -0.361111104,
                              -5.96046448e-08, 1.02777791, 1.54166663, 0.5, -1.49011612e-08, -0.375, -0.625, 1.04166687, 1.875})});
  checkOp("resize", "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<align_corners>", {g},
          {f32({1, 1, 3, 6}, {0.375, -0.525000036, -0.649999917, 0.774999857, 1.0999999, 0.875, 0.4375, -0.237500027, -0.487499952,
                              0.112499937, 0.737500072, 1.375, 0.5, 0.0499999821, -0.324999988, -0.549999952, 0.375000238, 1.875})});
  checkOp("resize", "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<pytorch_half_pixel>", {g},
          {f32({1, 1, 3, 6}, {0.375, -0.375, -0.729166746, 0.854166389, 1.0625, 0.875, 0.4375, -0.125, -0.520833373, 0.145833224, 0.84375,
                              1.375, 0.5, 0.125, -0.3125, -0.56249994, 0.625, 1.875})});
  checkOp(
      "resize", "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<half_pixel>", {g},
      {f32({1, 1, 3, 6}, {0.500009418, -0.663438857, -0.950855076, 1.06468832, 1.34551394, 0.733979225, 0.535156488, -0.21875, -0.660083413,
                          0.0572195947, 0.9375, 1.4672308, 0.570303977, 0.225938678, -0.369312286, -0.950249016, 0.529487014, 2.2004838})});
  checkOp("resize", "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<asymmetric>", {g},
          {f32({1, 1, 3, 6},
               {0.375, -0.916666508, -0.523148239, 1.25, 1.12499928, 0.833333611, 0.460648298, -0.269547522, -0.569145024, -0.0347216129,
                1.08534837, 1.73739803, 0.513888717, 0.132716358, -0.597737074, -0.833333194, 1.06069934, 2.29938316})});
  checkOp("resize", "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<align_corners>", {g},
          {f32({1, 1, 3, 6}, {0.375, -0.799500227, -0.84199959, 0.832000017, 1.3610003, 0.875, 0.4375, -0.359000146, -0.644999504,
                              0.00750011206, 0.83275032, 1.375, 0.5, 0.0814998746, -0.447999448, -0.816999793, 0.304500401, 1.875})});
  checkOp(
      "resize", "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<pytorch_half_pixel>", {g},
      {f32({1, 1, 3, 6}, {0.500009418, -0.663438857, -0.950855076, 1.06468832, 1.34551394, 0.733979225, 0.535156488, -0.21875, -0.660083413,
                          0.0572195947, 0.9375, 1.4672308, 0.570303977, 0.225938678, -0.369312286, -0.950249016, 0.529487014, 2.2004838})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>, "
          "nearest_mode = #graph.resize_nearest<round_prefer_floor>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, 0.375, -1.125, 1.25, 1.25, 0.875, 0.375, 0.375, -1.125, 1.25, 1.25, 0.875, 0.5, 0.5, -0.25, -0.625,
                              -0.625, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>, "
          "nearest_mode = #graph.resize_nearest<round_prefer_floor>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, -1.125, 1.25, 0.875, 0.875, 0.5, -0.25, -0.25, -0.625, 1.875, 1.875, 0.5, -0.25, -0.25, -0.625,
                              1.875, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<align_corners>, "
          "nearest_mode = #graph.resize_nearest<round_prefer_floor>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, -1.125, 1.25, 1.25, 0.875, 0.375, -1.125, -1.125, 1.25, 1.25, 0.875, 0.5, -0.25, -0.25, -0.625,
                              -0.625, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>, "
          "nearest_mode = #graph.resize_nearest<round_prefer_ceil>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, -1.125, 1.25, 0.875, 0.875, 0.5, -0.25, -0.25, -0.625, 1.875, 1.875, 0.5, -0.25, -0.25, -0.625,
                              1.875, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>, "
          "nearest_mode = #graph.resize_nearest<round_prefer_ceil>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, -1.125, 1.25, 0.875, 0.875, 0.5, -0.25, -0.25, -0.625, 1.875, 1.875, 0.5, -0.25, -0.25, -0.625,
                              1.875, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<align_corners>, "
          "nearest_mode = #graph.resize_nearest<round_prefer_ceil>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, -1.125, 1.25, 1.25, 0.875, 0.5, -0.25, -0.25, -0.625, -0.625, 1.875, 0.5, -0.25, -0.25, -0.625,
                              -0.625, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>, "
          "nearest_mode = #graph.resize_nearest<floor>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, 0.375, -1.125, -1.125, 1.25, 0.875, 0.375, 0.375, -1.125, -1.125, 1.25, 0.875, 0.5, 0.5, -0.25, -0.25,
                              -0.625, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>, "
          "nearest_mode = #graph.resize_nearest<floor>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, 0.375, -1.125, 1.25, 1.25, 0.875, 0.375, 0.375, -1.125, 1.25, 1.25, 0.875, 0.5, 0.5, -0.25, -0.625,
                              -0.625, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<align_corners>, "
          "nearest_mode = #graph.resize_nearest<floor>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, 0.375, -1.125, -1.125, 1.25, 0.875, 0.375, 0.375, -1.125, -1.125, 1.25, 0.875, 0.5, 0.5, -0.25, -0.25,
                              -0.625, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<half_pixel>, "
          "nearest_mode = #graph.resize_nearest<ceil>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, 1.25, 1.25, 0.875, 0.875, 0.5, -0.25, -0.625, -0.625, 1.875, 1.875, 0.5, -0.25, -0.625, -0.625,
                              1.875, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>, "
          "nearest_mode = #graph.resize_nearest<ceil>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, 1.25, 1.25, 0.875, 0.875, 0.5, -0.25, -0.625, -0.625, 1.875, 1.875, 0.5, -0.25, -0.625, -0.625,
                              1.875, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<align_corners>, "
          "nearest_mode = #graph.resize_nearest<ceil>",
          {g},
          {f32({1, 1, 3, 6}, {0.375, -1.125, 1.25, 1.25, 0.875, 0.875, 0.5, -0.25, -0.625, -0.625, 1.875, 1.875, 0.5, -0.25, -0.625, -0.625,
                              1.875, 1.875})});
  checkOp("resize",
          "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<half_pixel>, exclude_outside = true, "
          "cubic_coeff = -0.5 : f64",
          {g},
          {f32({1, 1, 3, 6},
               {0.46870634, -0.512673974, -0.958040237, 1.08041263, 1.22503853, 0.772096038, 0.511512876, -0.150735304, -0.644531429,
                0.117621332, 0.933823586, 1.44490135, 0.554319382, 0.211203396, -0.33102268, -0.845170021, 0.642608523, 2.11770654})});
  checkOp("resize", "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<half_pixel>, antialias = true", {h},
          {f32({1, 1, 1, 3}, {-0.0703125, -1.18382359, -0.3125})});
  checkOp("resize", "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<half_pixel>, antialias = true", {h},
          {f32({1, 1, 1, 3}, {-0.1405375, -1.38101459, -0.225249618})});
  checkOp("resize",
          "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<half_pixel_symmetric>, "
          "scales = array<f64: 1.0, 1.0, 1.0, 0.6>",
          {h}, {f32({1, 1, 1, 4}, {0.312499851, -1.91666663, -0.458333373, -0.31249997})});
  checkOp("resize",
          "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<asymmetric>, scales = array<f64: 1.0, "
          "1.0, 1.0, 0.6>",
          {h}, {f32({1, 1, 1, 4}, {1.125, -1.5, -1.08333337, -0.125})});
  checkOp("resize",
          "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>, "
          "nearest_mode = #graph.resize_nearest<floor>",
          {i64({1, 2}, {1, 2})}, {i64({1, 4}, {1, 1, 2, 2})});
  checkOp("resize", "mode = #graph.resize_mode<linear>, coordinate = #graph.resize_coordinate<align_corners>", {g},
          {f32({1, 1, 1, 1}, {0.375})});
}

TEST_CASE("nothing is resized to something", "[interpreter]") {
  checkOpError("resize", "mode = #graph.resize_mode<nearest>, coordinate = #graph.resize_coordinate<asymmetric>", {f32({0}, {})},
               {f32({2}, {0, 0})}, "resizes tensor<0xf32>, which is empty, to tensor<2xf32>");
}

TEST_CASE("scales that make no sense end soon", "[interpreter]") {
  const std::string cubic = "mode = #graph.resize_mode<cubic>, coordinate = #graph.resize_coordinate<half_pixel>";
  checkOp("resize", cubic + ", scales = array<f64: 1.0e-300>", {f32({3}, {1, 2, 3})}, {f32({2}, {3, 3})});
  checkOp("resize", cubic + ", scales = array<f64: 1.0e-14>, exclude_outside = true", {f32({3}, {1, 2, 3})}, {f32({2}, {3, 3})});
  checkOpError("resize", cubic + ", scales = array<f64: 1.0e-300>, antialias = true", {f32({3}, {1, 2, 3})}, {f32({2}, {3, 3})},
               "needs more work");
}
