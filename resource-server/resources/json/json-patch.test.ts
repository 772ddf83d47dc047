import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { json, textOf } from './json.fixture.ts';
import { jsonPatch } from './json-patch.ts';
import { MalformedJson, MAX_DEPTH } from './parse.ts';
import { equal } from './value.ts';

interface Case {
  readonly comment?: string;
  readonly doc: unknown;
  readonly patch: unknown;
  readonly expected?: unknown;
  readonly error?: string;
  readonly disabled?: boolean;
}

function casesOf(file: string): [string, Case][] {
  const url = new URL(`../../../node_modules/json-patch-test-suite/${file}`, import.meta.url);
  const cases = JSON.parse(readFileSync(url, 'utf8')) as Case[];
  return cases.map((one, index) => [one.comment ?? one.error ?? `case ${index}`, one]);
}

function patched(document: string, patch: string): string {
  return textOf(jsonPatch(json(patch))(json(document)));
}

/** The status of applying the patch. 200: the result is a document. */
function statusOf(document: string | undefined, patch: string): number {
  try {
    jsonPatch(json(patch))(document === undefined ? undefined : json(document));
    return 200;
  } catch (error) {
    if (error instanceof HttpError || error instanceof BadRequest) return error.status;
    throw error;
  }
}

/** The detail of the error from applying the patch. */
function detailOf(document: string, patch: object): string {
  try {
    return patched(
      document,
      JSON.stringify([{ op: 'test', path: '', value: JSON.parse(document) }, patch]),
    );
  } catch (error) {
    return error instanceof HttpError ? error.message : String(error);
  }
}

test.each([
  [{ op: 'test', path: '/a', value: 2 }, 'the value at "/a" is another.'],
  [{ op: 'test', path: '/b', value: 2 }, 'there is nothing at "/b".'],
  [{ op: 'remove', path: '/b' }, 'there is nothing at "/b".'],
  [{ op: 'replace', path: '/b', value: 1 }, 'there is nothing at "/b".'],
  [{ op: 'move', from: '/b', path: '/c' }, 'there is nothing at "/b".'],
  [{ op: 'copy', from: '/b', path: '/c' }, 'there is nothing at "/b".'],
  [{ op: 'add', path: '/b/c', value: 1 }, 'nothing can be added at "/b/c": its parent is missing'],
  [{ op: 'copy', from: '/a', path: '/l/3' }, 'the index is past the end.'],
  [{ op: 'remove', path: `/${'x'.repeat(200)}` }, `"/${'x'.repeat(99)}...".`],
  [{ op: 'remove', path: '/"\n' }, String.raw`at "/\"\n".`],
])('the error of an operation that does not apply names the reason: %j', (operation, reason) => {
  const detail = detailOf('{"a":1,"l":[1]}', operation);
  expect(detail).toMatch(/^Operation 1 of the patch \(the first is 0\) does not apply: /);
  expect(detail).toContain(reason);
});

/** Cases with two operations of the same name in one object, since JSON.parse has already lost one. */
const LOST = (one: Case) => one.disabled === true && /two 'op' members/.test(one.error ?? '');

describe.each(['tests.json', 'spec_tests.json'])('RFC 6902, json-patch-test-suite: %s', (file) => {
  const cases = casesOf(file);

  test.each(cases.filter(([, one]) => !LOST(one)))(
    'the patch suite case "%s" has the expected result',
    (_, one) => {
      const apply = () => patched(JSON.stringify(one.doc), JSON.stringify(one.patch));
      if (one.error === undefined) {
        expect(JSON.parse(apply())).toStrictEqual(one.expected ?? one.doc);
      } else {
        expect(apply).toThrow(expect.objectContaining({ status: expect.any(Number) }));
      }
    },
  );
});

test('RFC 6902: all cases of the test suite run', () => {
  const all = [...casesOf('tests.json'), ...casesOf('spec_tests.json')];
  expect(all).toHaveLength(95);
  expect(all.filter(([, one]) => one.disabled === true)).toHaveLength(4);
  expect(all.filter(([, one]) => LOST(one))).toHaveLength(2);
});

test.each([
  '[{"op":"add","path":"/baz","value":"qux","op":"move","from":"/foo"}]',
  '[{"op":"add","path":"/baz","value":"qux","op":"remove"}]',
])('RFC 6902 appendix A.13: a patch with two op members is refused, %s', (patch) => {
  expect(() => json(patch)).toThrow(MalformedJson);
});

test.each([
  [
    'A.1',
    '{"foo":"bar"}',
    '[{"op":"add","path":"/baz","value":"qux"}]',
    '{"foo":"bar","baz":"qux"}',
  ],
  [
    'A.2',
    '{"foo":["bar","baz"]}',
    '[{"op":"add","path":"/foo/1","value":"qux"}]',
    '{"foo":["bar","qux","baz"]}',
  ],
  ['A.3', '{"baz":"qux","foo":"bar"}', '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}'],
  [
    'A.4',
    '{"foo":["bar","qux","baz"]}',
    '[{"op":"remove","path":"/foo/1"}]',
    '{"foo":["bar","baz"]}',
  ],
  [
    'A.5',
    '{"baz":"qux","foo":"bar"}',
    '[{"op":"replace","path":"/baz","value":"boo"}]',
    '{"baz":"boo","foo":"bar"}',
  ],
  [
    'A.6',
    '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
    '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
    '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
  ],
  [
    'A.7',
    '{"foo":["all","grass","cows","eat"]}',
    '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
    '{"foo":["all","cows","eat","grass"]}',
  ],
  [
    'A.8',
    '{"baz":"qux","foo":["a",2,"c"]}',
    '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
    '{"baz":"qux","foo":["a",2,"c"]}',
  ],
  [
    'A.10',
    '{"foo":"bar"}',
    '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
    '{"foo":"bar","child":{"grandchild":{}}}',
  ],
  [
    'A.11',
    '{"foo":"bar"}',
    '[{"op":"add","path":"/baz","value":"qux","xyz":123}]',
    '{"foo":"bar","baz":"qux"}',
  ],
  ['A.14', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":10}]', '{"/":9,"~1":10}'],
  [
    'A.16',
    '{"foo":["bar"]}',
    '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
    '{"foo":["bar",["abc","def"]]}',
  ],
])('RFC 6902 appendix %s has the printed result', (_, document, patch, result) => {
  expect(patched(document, patch)).toBe(result);
});

test.each([
  ['A.9', '{"baz":"qux"}', '[{"op":"test","path":"/baz","value":"bar"}]'],
  ['A.12', '{"foo":"bar"}', '[{"op":"add","path":"/baz/bat","value":"qux"}]'],
  ['A.15', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":"10"}]'],
])('RFC 6902 appendix %s is 409', (_, document, patch) => {
  expect(statusOf(document, patch)).toBe(409);
});

test.each([
  ['an object', '{"op":"add","path":"/a","value":1}'],
  ['null', 'null'],
  ['a string', '"[]"'],
  ['an operation that is null', '[null]'],
  ['an operation that is an array', '[["op","add"]]'],
  ['an operation without op', '[{"path":"/a","value":1}]'],
  ['an op that is no string', '[{"op":["add"],"path":"/a","value":1}]'],
  ['no path', '[{"op":"remove"}]'],
  ['a path that is null', '[{"op":"remove","path":null}]'],
  ['a path that is an array', '[{"op":"remove","path":["a"]}]'],
  ['a path without its slash', '[{"op":"remove","path":"a"}]'],
  ['a path as a fragment', '[{"op":"remove","path":"#/a"}]'],
  ['a bad escape in a path', '[{"op":"remove","path":"/~2"}]'],
  ['add without a value', '[{"op":"add","path":"/a"}]'],
  ['replace without a value', '[{"op":"replace","path":"/a"}]'],
  ['test without a value', '[{"op":"test","path":"/a"}]'],
  ['move without from', '[{"op":"move","path":"/a"}]'],
  ['copy with a from that is a number', '[{"op":"copy","path":"/a","from":0}]'],
  [
    'a wrong operation after one that does not apply',
    '[{"op":"remove","path":"/no"},{"op":"add"}]',
  ],
])('RFC 5789 section 2.2: %s is not a JSON Patch, 400', (_, patch) => {
  expect(statusOf('{"a":1}', patch)).toBe(400);
});

test.each([
  ['an unknown operation', '[{"op":"spam","path":"/a"}]'],
  ['an operation in upper case', '[{"op":"ADD","path":"/a","value":1}]'],
  ['an operation named as a member of Object.prototype', '[{"op":"constructor","path":"/a"}]'],
  ['a move into itself (RFC 6902 section 4.4)', '[{"op":"move","from":"/a","path":"/a/b"}]'],
  ['a move of the whole into itself', '[{"op":"move","from":"","path":"/a"}]'],
  [
    'over 1,000 operations',
    `[${Array<string>(1001).fill('{"op":"test","path":"/a","value":1}').join(',')}]`,
  ],
  ['nothing that is left', '[{"op":"remove","path":""}]'],
])('RFC 5789 section 2.2: %s is 422', (_, patch) => {
  expect(statusOf('{"a":1}', patch)).toBe(422);
});

test.each([
  ['remove', '/b'],
  ['remove', '/list/2'],
  ['remove', '/list/-'],
  ['remove', '/list/01'],
  ['remove', '/text/0'],
  ['remove', '/text/length'],
  ['remove', '/null/a'],
  ['remove', '/__proto__'],
  ['remove', '/constructor'],
  ['add', '/b/c'],
  ['add', '/list/3'],
  ['add', '/list/01'],
  ['add', '/list/-1'],
  ['add', '/list/+1'],
  ['add', '/list/1e0'],
  ['add', '/list/'],
  ['add', '/list/length'],
  ['add', '/list/-/a'],
  ['add', `/list/${'9'.repeat(400)}`],
  ['add', '/text/0'],
  ['add', '/a/b'],
  ['add', '/null/a'],
  ['add', '/__proto__/polluted'],
  ['add', '/constructor/prototype/polluted'],
  ['replace', '/b'],
  ['replace', '/list/2'],
  ['replace', '/list/-'],
  ['replace', '/toString'],
  ['replace', '/__proto__'],
  ['test', '/b'],
  ['test', '/list/-'],
  ['test', '/__proto__'],
])('RFC 6902 section 5: %s at %s does not apply, 409', (op, path) => {
  const document = '{"a":1,"list":[1,2],"text":"abc","null":null}';
  expect(statusOf(document, JSON.stringify([{ op, path, value: null }]))).toBe(409);
});

test.each([
  ['move', '/b', '/c'],
  ['move', '/list/-', '/c'],
  ['move', '/a', '/b/c'],
  ['move', '/list/0', '/list/2'],
  ['copy', '/b', '/c'],
  ['copy', '/__proto__', '/c'],
  ['copy', '/constructor', '/c'],
  ['copy', '/a', '/list/3'],
])('RFC 6902 section 5: %s from %s to %s does not apply, 409', (op, from, path) => {
  expect(statusOf('{"a":1,"list":[1,2]}', JSON.stringify([{ op, from, path }]))).toBe(409);
});

describe('RFC 6902 section 4: the whole document', () => {
  test.each([
    ['[{"op":"add","path":"","value":1}]', '1'],
    ['[{"op":"replace","path":"","value":[]}]', '[]'],
    ['[{"op":"test","path":"","value":{"a":{"b":1}}}]', '{"a":{"b":1}}'],
    ['[{"op":"remove","path":""},{"op":"add","path":"","value":null}]', 'null'],
    ['[{"op":"move","from":"/a","path":""}]', '{"b":1}'],
    ['[{"op":"move","from":"","path":""}]', '{"a":{"b":1}}'],
    ['[{"op":"copy","from":"","path":"/c"}]', '{"a":{"b":1},"c":{"a":{"b":1}}}'],
  ])('the patch %s replaces or reads the whole document', (patch, result) =>
    expect(patched('{"a":{"b":1}}', patch)).toBe(result),
  );

  test('the whole document cannot be replaced after its removal', () => {
    const patch = '[{"op":"remove","path":""},{"op":"replace","path":"","value":1}]';
    expect(statusOf('{}', patch)).toBe(409);
  });
});

describe('RFC 5789 section 2.2: a missing document', () => {
  test.each([
    ['[{"op":"add","path":"","value":{"a":1}}]', '{"a":1}'],
    ['[{"op":"add","path":"","value":[]},{"op":"add","path":"/-","value":1}]', '[1]'],
  ])('the patch %s creates a missing document', (patch, result) => {
    expect(textOf(jsonPatch(json(patch))(undefined))).toBe(result);
  });

  test.each([
    '[]',
    '[{"op":"add","path":"/a","value":1}]',
    '[{"op":"replace","path":"","value":1}]',
    '[{"op":"remove","path":""}]',
    '[{"op":"test","path":"","value":null}]',
    '[{"op":"add","path":"","value":1},{"op":"remove","path":""}]',
  ])('the patch %s of a missing document is 404', (patch) =>
    expect(statusOf(undefined, patch)).toBe(404),
  );
});

describe('RFC 6902 section 7: __proto__ and constructor are members like any other', () => {
  test.each([
    [
      '[{"op":"add","path":"/__proto__","value":{"polluted":1}}]',
      '{"a":{},"__proto__":{"polluted":1}}',
    ],
    ['[{"op":"add","path":"/a/constructor","value":1}]', '{"a":{"constructor":1}}'],
    [
      '[{"op":"copy","from":"/a","path":"/__proto__"},{"op":"add","path":"/__proto__/polluted","value":1}]',
      '{"a":{},"__proto__":{"polluted":1}}',
    ],
    [
      '[{"op":"add","path":"/prototype","value":1},{"op":"move","from":"/prototype","path":"/toString"}]',
      '{"a":{},"toString":1}',
    ],
    [
      '[{"op":"add","path":"/b","value":{"__proto__":{"polluted":1}}}]',
      '{"a":{},"b":{"__proto__":{"polluted":1}}}',
    ],
  ])('%s treats __proto__ and constructor like other members', (patch, result) => {
    expect(patched('{"a":{}}', patch)).toBe(result);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

test('RFC 6902 section 4.5: a copy is independent of its original', () => {
  const patch =
    '[{"op":"copy","from":"/a","path":"/b"},{"op":"add","path":"/b/-","value":1},{"op":"add","path":"/a/-","value":2}]';
  expect(patched('{"a":[]}', patch)).toBe('{"a":[2],"b":[1]}');
});

test('RFC 6902 section 4: a patch keeps every digit of other numbers, and tests them exactly', () => {
  const patch =
    '[{"op":"test","path":"/id","value":9007199254740993},{"op":"copy","from":"/id","path":"/was"},{"op":"replace","path":"/id","value":1.0}]';
  expect(patched('{"id":9007199254740993}', patch)).toBe('{"id":1.0,"was":9007199254740993}');
  expect(
    statusOf('{"id":9007199254740993}', '[{"op":"test","path":"/id","value":9007199254740992}]'),
  ).toBe(409);
});

describe('a short patch for a huge result is 422', () => {
  const copies = (copy: object) =>
    JSON.stringify(Array.from({ length: 1000 }, () => ({ op: 'copy', ...copy })));

  test('a patch that repeatedly copies the whole document into itself is 422', () => {
    expect(statusOf('[0]', copies({ from: '', path: '/-' }))).toBe(422);
  });

  test('a patch that repeatedly copies a large value to one place is 422', () => {
    const document = `{"a":[${Array<number>(10_000).fill(0).join(',')}]}`;
    expect(statusOf(document, copies({ from: '/a', path: '/b' }))).toBe(422);
  });

  test('a patch that copies a document into its deepest member is 422', () => {
    const document = `${'{"a":'.repeat(MAX_DEPTH - 1)}{}${'}'.repeat(MAX_DEPTH - 1)}`;
    expect(statusOf(document, copies({ from: '', path: '/a'.repeat(MAX_DEPTH) }))).toBe(422);
  });
});

const TOKEN = fc.constantFrom(
  'a',
  'b',
  '0',
  '1',
  '-',
  '01',
  '',
  '~0',
  '~1',
  '__proto__',
  'constructor',
  'length',
);
const POINTER = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .array(TOKEN, { maxLength: 3 })
      .map((tokens) => tokens.map((token) => `/${token}`).join('')),
  },
  { weight: 1, arbitrary: fc.string() },
);
const VALUE = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1.5, '', 'a'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '0', '', '__proto__', 'constructor'), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value;
const OPERATION = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
        path: POINTER,
        from: POINTER,
        value: VALUE,
      },
      { requiredKeys: ['op', 'path', 'from'] },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

test('RFC 5789 section 2.2: any patch of any document has a result, or is 400, 409 or 422', () => {
  fc.assert(
    fc.property(VALUE, fc.array(OPERATION, { maxLength: 8 }), (document, patch) => {
      expect([200, 400, 409, 422]).toContain(
        statusOf(JSON.stringify(document), JSON.stringify(patch)),
      );
    }),
    { numRuns: 2000 },
  );
});

test('RFC 6902 section 4.6: an added value passes its test', () => {
  fc.assert(
    fc.property(VALUE, VALUE, TOKEN, (document, value, token) => {
      const path = `/${token}`;
      const at = token === '-' && Array.isArray(document) ? `/${document.length}` : path;
      const patch = JSON.stringify([{ op: 'add', path, value }]);
      fc.pre(statusOf(JSON.stringify(document), patch) === 200);
      const tested = JSON.stringify([{ op: 'test', path: at, value }]);
      expect(statusOf(patched(JSON.stringify(document), patch), tested)).toBe(200);
    }),
  );
});

test('RFC 5789 section 2: a patch is not modified, so it can be applied again to a changed document', () => {
  fc.assert(
    fc.property(VALUE, VALUE, VALUE, (one, other, value) => {
      const patch = json(
        JSON.stringify([
          { op: 'add', path: '', value: { list: [value], other: value } },
          { op: 'add', path: '/list/-', value: other },
          { op: 'move', from: '/other', path: '/list/0' },
        ]),
      );
      const apply = jsonPatch(patch);
      const first = apply(json(JSON.stringify(one)));
      expect(equal(apply(json(JSON.stringify(other))), first)).toBe(true);
    }),
  );
});
