import { expect, test } from '@jest/globals';
import { linesFrom } from './rules.fixture.ts';
import { tagsOf } from './tags.ts';

test.each([
  [
    ['Surrogate-Key: a  b', 'surrogate-key: c'],
    ['a', 'b', 'c'],
  ],
  [['Cache-Tag: a, b c,,d'], ['a', 'b c', 'd']],
  [['Surrogate-Key: a', 'Cache-Tag: a'], ['a']],
  [['Cache-Tag:'], []],
  [['ETag: "a"'], []],
])('groups of %j', (fields, tags) => {
  expect(tagsOf(linesFrom(...fields))).toEqual(tags);
});

test('one answer has a limited number of tags', () => {
  const many = Array.from({ length: 200 }, (_, index) => `t${index}`).join(' ');
  expect(tagsOf(linesFrom(`Surrogate-Key: ${many}`))).toHaveLength(128);
});
