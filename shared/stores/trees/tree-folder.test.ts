import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { folderOf, treeOf, treesIn } from './tree-folder.ts';

const name = fc.oneof(
  fc.string({ unit: 'grapheme' }).filter((text) => text.isWellFormed()),
  fc.string({ unit: fc.constantFrom(...'aAfFjJzZ4/%?=.é'.split('')) }),
);

test.each([
  ['/documents', '%2Fdocuments'],
  ['/dav?person=../b', '%2Fdav%3Fperson%3D..%2Fb'],
  ['/dav?application=App', '%2Fdav%3Fapplication%3D%41pp'],
  ['É%41', '%C3%89%2541'],
])('%s is in %s', (tree, folder) => {
  expect(folderOf(tree)).toBe(folder);
  expect(treeOf(folder)).toBe(tree);
});

test('every tree has its own folder, also on file systems that ignore case', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(treeOf(folderOf(one))).toBe(one);
      if (one === other) return;
      expect(folderOf(one).toLowerCase()).not.toBe(folderOf(other).toLowerCase());
    }),
  );
  fc.assert(
    fc.property(name, (tree) => {
      for (const other of [tree.toUpperCase(), tree.toLowerCase()]) {
        if (other === tree) continue;
        expect(folderOf(tree).toLowerCase()).not.toBe(folderOf(other).toLowerCase());
      }
    }),
  );
});

test('a folder name has neither a separator nor an upper-case letter outside an escape', () => {
  fc.assert(
    fc.property(name, (tree) => {
      expect(folderOf(tree)).toMatch(/^(%[0-9A-F]{2}|[a-z0-9_.!~*'()-])*$/);
    }),
  );
});

test.each(['App', '%2fa', '%ff', '%', '%4', '%61', '%4a', 'ü', 'a b', '/', 'a%2Fb%', '\0'])(
  'the folder %j belongs to no tree',
  (folder) => {
    expect(treeOf(folder)).toBeUndefined();
  },
);

test('a folder name belongs to at most one tree', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'%24fFaA/Cc3é'.split('')) }), (folder) => {
      const tree = treeOf(folder);
      if (tree !== undefined) expect(folderOf(tree)).toBe(folder);
    }),
  );
});

test('listing the trees skips files, links and names of other forms, and is empty without a folder', async () => {
  const outer = await mkdtemp(join(tmpdir(), 'countersign-trees-'));
  try {
    const content = join(outer, 'content');
    expect(await treesIn(content)).toEqual([]);
    for (const folder of [folderOf('/App'), folderOf('/app'), 'App', '%2fapp2']) {
      await mkdir(join(content, folder), { recursive: true });
    }
    await writeFile(join(content, 'file'), '');
    await symlink(outer, join(content, 'link'));
    expect((await treesIn(content)).toSorted()).toEqual(['/App', '/app']);
  } finally {
    await rm(outer, { recursive: true });
  }
});
