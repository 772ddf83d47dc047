import { describe, expect, test } from '@jest/globals';
import { configSchema } from './schema.ts';
import { SPACE_RULES } from './space-rules.ts';
import { toolScopes } from './tool-scope.ts';

const UPSTREAM = { serves: 'upstream', upstream: { url: 'http://127.0.0.1:8080/mcp' } };
const parse = (scopes: object, more: object) =>
  configSchema.safeParse({
    resource: 'https://rs.example',
    spaces: [{ url: 'https://rs.example/mcp', realm: 'a', schemes: ['Bearer'], scopes, ...more }],
  });
function mistakes(scopes: object, more: object): readonly string[] {
  const { data, error } = parse(scopes, more);
  if (data === undefined) throw error;
  return SPACE_RULES.flatMap(({ check }) => check(data, {})).map(
    ({ path, message }) => `${path} ${message}`,
  );
}

describe('scopes of tools', () => {
  const scopes = {
    unsafe: ['a'],
    'tool:add_note': ['b'],
    'tool:admin/notes.delete-all': ['b', 'c'],
  };

  test("may contain the tools' names, with the required scopes", () => {
    expect([...toolScopes(scopes)]).toEqual([
      ['add_note', ['b']],
      ['admin/notes.delete-all', ['b', 'c']],
    ]);
  });

  test.each(['tool:', 'tool:two words', 'Tool:a', `tool:${'a'.repeat(129)}`, 'tool:a:b'])(
    "%j is refused as a tool's name",
    (key) => {
      expect(parse({ [key]: ['b'] }, UPSTREAM).success).toBe(false);
    },
  );

  test.each([UPSTREAM, { serves: 'verify' }])('are accepted: %j', (more) => {
    expect(mistakes(scopes, more)).toEqual([]);
  });

  test.each([
    [{ serves: 'documents' }, /^spaces\.0\.scopes has tools, .*serves documents/],
    [{ serves: 'identity' }, /^spaces\.0\.scopes has tools, .*serves identity/],
  ])('are refused: %j', (more, expected) => {
    expect(mistakes(scopes, more)).toEqual([expect.stringMatching(expected)]);
  });
});
