import assert from "node:assert/strict";
import { test } from "node:test";
import { skipWithout } from "../needs.mjs";

/** What is made of a test that lacks `name` where `required` is required. */
function lacking(name: string, required: string): string {
  const before = process.env.SYSDYNO_REQUIRE;
  process.env.SYSDYNO_REQUIRE = required;
  try {
    return `skip: ${skipWithout(false, "a test", name)}`;
  } catch (error) {
    return `fail: ${(error as Error).message}`;
  } finally {
    if (before === undefined) delete process.env.SYSDYNO_REQUIRE;
    else process.env.SYSDYNO_REQUIRE = before;
  }
}

test("a test that lacks what is required fails, and is skipped otherwise", () => {
  assert.equal(lacking("chromium", ""), "skip: needs chromium");
  assert.equal(lacking("chromium", "nginx"), "skip: needs chromium");
  assert.match(lacking("chromium", "nginx,chromium"), /^fail: a test: needs chromium, which SYSDYNO_REQUIRE=nginx,chromium requires/);
  assert.match(lacking("chromium", "all"), /^fail: /);
  assert.match(lacking("chromium", "chrome"), /^fail: SYSDYNO_REQUIRE has 'chrome'/);
  assert.equal(skipWithout(true, "a test", "chromium"), false);
});
