/**
 * An administrator's changes during an outage of Redis's master, and checks of the audit log. Throws
 * AssertionError.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { entryOf } from '#shared/audit/entry.ts';
import { type Part, unlessRefused } from './failover-uses.ts';
import type { Flow } from './flow.ts';

/** More than all events. */
const ALL = 1_000_000;

/**
 * A machine client adds and disables people over HTTP, alternately at the servers. Each acknowledged change
 * is stored, and each stored change has one event.
 */
export async function administering({ pair, stores }: Flow, server: () => number): Promise<Part> {
  const run = `${randomUUID()}-`;
  const added = new Set<string>();
  const disabled = new Set<string>();
  const machine = ['--name', 'Robot', '--grant', 'client_credentials', '--admin'];
  const made = await pair.cli('client', 'add', ...machine, '--scope', 'admin');
  const client = { id: String(made['client_id']), secret: String(made['client_secret']) };
  const resource = `${pair.issuer}/admin/api`;
  const form = { grant_type: 'client_credentials', scope: 'admin', resource };
  const { body } = await pair.post('/token', form, client);
  const authorization = `Bearer ${String(body['access_token'])}`;

  async function change(operation: string, content: object): Promise<void> {
    const answer = await fetch(`${pair.authz[server()]?.url}/admin/api/${operation}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(content),
    });
    const told = (await answer.json()) as { title?: string };
    if (answer.status === 503) {
      assert.match(
        answer.headers.get('retry-after') ?? '',
        /^\d+$/,
        `${operation}: no Retry-After`,
      );
      assert.ok(told.title, `${operation}: 503 without words`);
    }
    unlessRefused(answer.status, [200], `${operation}: ${JSON.stringify(told)}`);
  }

  return {
    async work() {
      const name = run + added.size + randomUUID().slice(0, 8);
      await change('user-add', { name });
      added.add(name);
      await change('user-disable', { name });
      disabled.add(name);
      return ['changes'];
    },
    async keeps() {
      await pair.cli('audit', 'verify');
      const open = (await stores.audit.open()).texts;
      const rows = await stores.audit.rows({ first: 0, last: Number.MAX_SAFE_INTEGER }, ALL);
      const events = [...rows.map(({ text }) => text), ...open].map(entryOf);
      const there = await stores.people.page({ prefix: run, limit: ALL });
      const told = (kind: string, id: string) =>
        events.filter((event) => event.kind === kind && 'person' in event && event.person === id)
          .length;
      for (const { id, name, disabled: out } of there) {
        assert.equal(told('person.added', id), 1, `${name} has not one event`);
        assert.equal(
          told('person.disabled', id),
          out ? 1 : 0,
          `disabling ${name} has not one event`,
        );
        added.delete(name);
        if (out) disabled.delete(name);
      }
      assert.deepEqual([[...added], [...disabled]], [[], []], 'an acknowledged change is lost');
    },
    refuses: async () => {},
  };
}
