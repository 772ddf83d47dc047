import { describe, expect, test } from '@jest/globals';
import { BY_PASSWORD } from '#shared/people/access/assurance.ts';
import { findSignIn, recordSignIn } from '#shared/people/access/sign-ins.ts';
import { secondFactorsIn, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withPeople } from '../stores/with-people.ts';
import { withStores } from '../stores/with-stores.ts';

/** A shell with alice, who has a second factor and a session, and bob, who has no second factor. */
async function newShell() {
  const shell = new TestShell(await newData());
  const ids: string[] = [];
  for (const name of ['alice', 'bob']) {
    shell.stdin = 'correct horse battery staple';
    ids.push(((await json(shell, 'user', 'add', name, '--password-stdin')) as { id: string }).id);
  }
  const [id = ''] = ids;
  const factor = { ...someSecondFactor(id), created_at: 60_000 };
  await withPeople(shell, async (store) => {
    await store.stores.secondFactors.add(factor);
    const since = store.clock.now();
    const whose = { uid: 'browser', accountId: id, generation: 0 };
    await recordSignIn(store, { ...whose, since, assurance: BY_PASSWORD }, 600);
  });
  return { shell, factor };
}

describe('user second-factor', () => {
  test('shows whether there is a second factor, and the number of recovery codes, but no secret', async () => {
    const { shell, factor } = await newShell();
    expect(await json(shell, 'user', 'second-factor', 'ALICE')).toEqual({
      person: 'alice',
      set_up: true,
      created_at: 60_000,
      recovery_codes: 2,
    });
    expect(await json(shell, 'user', 'second-factor', 'bob')).toEqual({
      person: 'bob',
      set_up: false,
    });
    const { stdout } = await inProcess(shell, 'user', 'second-factor', 'alice');
    expect(stdout).toContain('alice has a second factor since 1970-01-01T00:01Z');
    for (const secret of [factor.sealed, ...factor.recovery]) expect(stdout).not.toContain(secret);
  });

  test("--remove removes it once, and revokes the person's sessions", async () => {
    const { shell } = await newShell();
    expect(await json(shell, 'user', 'second-factor', 'alice', '--remove')).toEqual({
      person: 'alice',
      removed: true,
    });
    expect(await withStores(shell, secondFactorsIn)).toEqual([]);
    await withPeople(shell, async (store) =>
      expect(await findSignIn(store, 'browser')).toBeUndefined(),
    );
    for (const name of ['alice', 'bob']) {
      const { code, stderr } = await inProcess(shell, 'user', 'second-factor', name, '--remove');
      expect(code).not.toBe(0);
      expect(stderr).toContain(`${name} has no second factor`);
    }
  });

  test('an unknown name is refused', async () => {
    const { shell } = await newShell();
    const { code, stderr } = await inProcess(shell, 'user', 'second-factor', 'carol');
    expect(code).not.toBe(0);
    expect(stderr).toContain('there is no person carol');
  });
});
