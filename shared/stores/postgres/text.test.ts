import { expect, jest, test } from '@jest/globals';

/** Returns the names that a process gives to these statements, in this order. */
async function namesOf(texts: readonly string[]): Promise<ReadonlyMap<string, string>> {
  jest.resetModules();
  const { statementOf } = await import('./text.ts');
  return new Map(texts.map((text) => [text, statementOf(text).name]));
}

test("a prepared statement has the same name in all processes, so a process behind a pooler never runs another process's statement", async () => {
  const [first, second] = ['SELECT id FROM epoch', 'DELETE FROM epoch WHERE id = ?'];
  const names = await namesOf([first, second]);
  const others = await namesOf([second, first]);
  for (const text of [first, second]) expect(others.get(text)).toBe(names.get(text));
  expect(names.get(first)).not.toBe(names.get(second));
});
