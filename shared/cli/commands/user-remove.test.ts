import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  edit,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '#shared/stores/contract/samples.ts';
import { folderOf } from '#shared/stores/trees/tree-folder.ts';
import { accountName, ownTree, sharedTree } from '#shared/stores/trees/tree-names.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { withStores } from '../stores/with-stores.ts';

/** A shell with alice and bob, and a space in which each has a tree. */
async function installation() {
  const shell = new TestShell(await newData());
  const data = shell.env['COUNTERSIGN_DATA'] ?? '';
  const file = `${data}.json`;
  shell.env['COUNTERSIGN_CONFIG'] = file;
  const space = { realm: 'a', schemes: ['Basic'], grants: { people: { alice: ['x'] } } };
  const spaces = [
    { ...space, url: 'http://localhost:3001/own/%C3%A9/', tree: 'own' },
    { ...space, url: 'http://localhost:3001/all/', realm: 'b', grants: {} },
  ];
  await writeFile(file, JSON.stringify({ spaces }));
  const add = async (name: string) =>
    ((await json(shell, 'user', 'add', name)) as { id: string }).id;
  const ids = { alice: await add('alice'), bob: await add('bob') };
  const treeOf = (id: string) => ownTree(['own', 'é'], accountName('person', id));
  const trees = [treeOf(ids.alice), treeOf(ids.bob), sharedTree(['all'])] as const;
  await withStores(shell, async (stores) => {
    for (const tree of trees) {
      const many = Array.from({ length: 120 }, (_, n) => someDocument(`d${n}`));
      await edit(stores, tree, puts(...many, someCollection('c'), someDocument('c/d')));
      await edit(stores, tree, [{ kind: 'lock', lock: someLock('c') }]);
      await mkdir(join(data, 'content', folderOf(tree)), { recursive: true });
      await writeFile(join(data, 'content', folderOf(tree), 'file'), 'content');
    }
  });
  const left = () =>
    withStores(shell, async (stores) =>
      Promise.all(
        trees.map(async (tree) => [
          (await stores.trees.below(tree, '', 200)).length,
          (await stores.trees.look(tree, [])).usage.entries,
          existsSync(join(data, 'content', folderOf(tree))),
        ]),
      ),
    );
  return { shell, ids, left };
}

const FULL = [122, 122, true];

describe('user remove', () => {
  test('removes the person, keeps documents, and names permissions that remain by name', async () => {
    const { shell, ids, left } = await installation();
    const { code, stdout } = await inProcess(shell, 'user', 'remove', 'Alice');
    expect([code, stdout.trimEnd().split('\n')]).toEqual([
      0,
      [
        `Removed alice (${ids.alice}).`,
        OWN_SESSIONS,
        'http://localhost:3001/own/%C3%A9/ still grants scopes to alice (grants.people).',
      ],
    ]);
    expect(await json(shell, 'user', 'list')).toMatchObject([{ name: 'bob' }]);
    expect(await left()).toEqual([FULL, FULL, FULL]);
  });

  test("--trees also deletes the person's own documents, locked or not, and no other person's", async () => {
    const { shell, ids, left } = await installation();
    const { alice: id } = ids;
    expect(await json(shell, 'user', 'remove', 'alice', '--trees')).toEqual({
      id,
      name: 'alice',
      removed: true,
      trees: 1,
      granted_at: ['http://localhost:3001/own/%C3%A9/'],
    });
    expect(await left()).toEqual([[0, 0, false], FULL, FULL]);
  });

  test('the name is refused later without --reuse-name; with it another person gets the name', async () => {
    const { shell, ids } = await installation();
    await inProcess(shell, 'user', 'remove', 'alice');
    const refused = await inProcess(shell, 'user', 'add', 'ALICE');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--reuse-name')]);
    const heir = await json(shell, 'user', 'add', 'alice', '--reuse-name');
    expect(heir).toMatchObject({ name: 'alice', id: expect.not.stringContaining(ids.alice) });
    const again = await inProcess(shell, 'user', 'add', 'alice', '--reuse-name');
    expect(again).toMatchObject({ code: 1, stderr: 'the name alice is taken: choose another\n' });
  });

  test('an older directory file does not restore the person, unless an option says so', async () => {
    const { shell, ids } = await installation();
    const file = `${shell.env['COUNTERSIGN_DATA']}.export`;
    await json(shell, 'user', 'set', 'alice', '--group', 'Staff', '--email', 'a@example.com');
    await json(shell, 'directory', 'export', file);
    await inProcess(shell, 'user', 'remove', 'alice');
    await inProcess(shell, 'user', 'set', 'bob', '--group', 'Board');
    const refused = await inProcess(shell, 'directory', 'import', file);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('alice was')]);
    expect(await json(shell, 'user', 'list')).toMatchObject([{ name: 'bob', groups: ['Board'] }]);
    await json(shell, 'directory', 'import', file, '--reuse-name');
    const profile = {
      groups: ['Staff'],
      emails: [{ address: 'a@example.com', verified: false }],
    };
    expect(await json(shell, 'user', 'list')).toMatchObject([
      { id: ids.alice, name: 'alice', ...profile },
      { name: 'bob' },
    ]);
  });
});
