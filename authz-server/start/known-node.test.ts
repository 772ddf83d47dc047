import { expect, test } from '@jest/globals';
import { silenceKnownNode } from './known-node.ts';

const UNSUPPORTED =
  'oidc-provider WARNING: Unsupported runtime. Use Node.js v22.x LTS, or a later LTS release.';

/** Returns the lines that are printed of both warnings while one is silenced, and afterwards. */
function told(version: string): readonly string[] {
  const lines: string[] = [];
  const console = { warn: (...words: readonly unknown[]) => void lines.push(words.join(' ')) };
  const end = silenceKnownNode(console, version);
  console.warn(UNSUPPORTED);
  console.warn('another', 'warning');
  end();
  console.warn(UNSUPPORTED);
  return lines;
}

test('the warning that Node 26 is no LTS release is silenced while the engine is loaded', () => {
  expect(told('26.10.0')).toEqual(['another warning', UNSUPPORTED]);
});

test('the server warns of a Node version on which no test has run', () => {
  expect(told('27.1.0')).toEqual([UNSUPPORTED, 'another warning', UNSUPPORTED]);
});

test('the silencing is needed only until the pinned release calls itself LTS', () => {
  expect(process.release.lts).toBeUndefined();
});
