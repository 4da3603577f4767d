// DEPS: stator::compiler
// The table of stages exists twice: as code, and for people in docs/architecture.md. They are the same table.
#include "unit/Catch.h"

#include "stator/Compiler.h"

#include <fstream>
#include <sstream>

using namespace stator;

static std::vector<std::string> cellsOf(const std::string &line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  std::string cell;
  while (std::getline(stream, cell, '|')) {
    size_t begin = cell.find_first_not_of(' '), end = cell.find_last_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
  }
  return cells;
}

TEST_CASE("docs/architecture.md shows the stages of the compiler") {
  std::ifstream file(STATOR_SOURCE_DIR "/docs/architecture.md");
  REQUIRE(file.good());
  std::vector<std::vector<std::string>> rows;
  bool inTable = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| stage", 0) == 0)
      inTable = true;
    else if (inTable && line.rfind("|---", 0) != 0) {
      if (line.empty() || line[0] != '|')
        break;
      rows.push_back(cellsOf(line));
    }
  }
  std::vector<compiler::StageInfo> stages = compiler::stages();
  REQUIRE(rows.size() == stages.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    // | stage | IR in -> out | does | verified by | folder |, after an empty first cell.
    REQUIRE(rows[i].size() >= 5);
    CHECK(rows[i][1] == stages[i].name);
    CHECK(rows[i][3] == stages[i].does);
    std::string verified = rows[i][4];
    if (verified.size() > 1 && verified.front() == '`')
      verified = verified.substr(1, verified.size() - 2);
    CHECK(verified == stages[i].verifiedBy);
  }
}
