/** Jest's `filter`: keeps all suites of this run, and passes their names on to the setup. */
export const selected: string[] = [];

function filter(suites: readonly string[]) {
  selected.splice(0, Infinity, ...suites);
  return { filtered: suites };
}

// Jest requires a CommonJS function.
export { filter as 'module.exports' };
