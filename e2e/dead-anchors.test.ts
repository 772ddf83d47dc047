import { describe, expect, test } from '@jest/globals';
import { anchorsOf, deadAnchors } from './dead-anchors.ts';

describe('the anchors of headings, as forges make them', () => {
  test.each([
    ['# Every scheme', 'every-scheme'],
    ['## `token explain`, in short', 'token-explain-in-short'],
    ['### A [link](a.md#b): und Größe', 'a-link-und-größe'],
    ['## What it can carry ##', 'what-it-can-carry'],
  ])('the heading %j has the anchor %s', (heading, anchor) => {
    expect([...anchorsOf(heading)]).toEqual([anchor]);
  });

  test('a second heading of the same text gets a number, and code has no headings', () => {
    const text = '# A\n\n## B\n```sh\n# C\n```\n## B\n';
    expect([...anchorsOf(text)]).toEqual(['a', 'b', 'b-1']);
  });
});

test('a link to a missing heading is named with its document', () => {
  const documents = new Map([
    ['README.md', '# Top\n[a](docs/a.md#one) [b](docs/a.md#two) [c](#top) [d](#other)'],
    ['docs/a.md', '# One\n[up](../README.md#top) [out](https://a.example/x.md#y) [no](b.md#one)'],
  ]);
  expect(deadAnchors(documents)).toEqual([
    'README.md: docs/a.md#two',
    'README.md: #other',
    'docs/a.md: b.md#one',
  ]);
});
