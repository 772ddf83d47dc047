import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { json, textOf } from './json.fixture.ts';
import { mergePatch } from './patch-document.ts';

function merged(document: string | undefined, patch: string): string {
  return textOf(mergePatch(json(patch))(document === undefined ? undefined : json(document)));
}

test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
])('RFC 7396 appendix A: %s with %s is %s', (document, patch, result) => {
  expect(merged(document, patch)).toBe(result);
});

test('RFC 7396 section 3: the example of the RFC has the printed result', () => {
  expect(
    merged(
      `{"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},
        "tags":["example","sample"],"content":"This will be unchanged"}`,
      `{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},
        "tags":["example"]}`,
    ),
  ).toBe(
    '{"title":"Hello!","author":{"givenName":"John"},"tags":["example"],' +
      '"content":"This will be unchanged","phoneNumber":"+01-123-456-7890"}',
  );
});

test.each([
  ['{"a":1,"b":null,"c":{"d":null}}', '{"a":1,"c":{}}'],
  ['[1,null,{"a":null}]', '[1,null,{"a":null}]'],
  ['"text"', '"text"'],
  ['null', 'null'],
])('RFC 7396 section 2: a merge patch %s of a missing document creates %s', (patch, result) => {
  expect(merged(undefined, patch)).toBe(result);
});

test('RFC 7396 section 5: __proto__ and constructor are members like any other', () => {
  const patch = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  expect(merged('{"a":1}', patch)).toBe(`{"a":1,${patch.slice(1)}`);
  expect(merged(patch, '{"__proto__":null,"constructor":{"prototype":null}}')).toBe(
    '{"constructor":{}}',
  );
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
});

test('RFC 7396 section 2: a merge patch keeps every digit of other numbers', () => {
  expect(merged('{"id":9007199254740993,"x":1.50}', '{"y":10000000000000000001}')).toBe(
    '{"id":9007199254740993,"x":1.50,"y":10000000000000000001}',
  );
});

test('RFC 7396 section 2: a patch is not modified, so it can be applied again to a changed document', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), fc.json(), (patch, one, other) => {
      const parsed = json(patch);
      const before = textOf(parsed);
      const apply = mergePatch(parsed);
      apply(json(one));
      expect(textOf(apply(json(other)))).toBe(merged(other, patch));
      expect(textOf(parsed)).toBe(before);
    }),
  );
});

test('RFC 7396 section 2: applying the same patch twice changes nothing more', () => {
  fc.assert(
    fc.property(fc.json(), fc.json(), (document, patch) => {
      const once = merged(document, patch);
      expect(merged(once, patch)).toBe(once);
    }),
  );
});
