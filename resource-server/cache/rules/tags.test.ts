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
])('tags that are read from %j', (fields, tags) => {
  expect(tagsOf(linesFrom(...fields))).toEqual(tags);
});

test('only a limited number of tags is read per answer', () => {
  const many = Array.from({ length: 200 }, (_, index) => `t${index}`).join(' ');
  expect(tagsOf(linesFrom(`Surrogate-Key: ${many}`))).toHaveLength(128);
});
