import * as z from 'zod';
import { EVENT_KINDS, type Kind } from '#shared/audit/event-kinds.ts';
import { listEvents, type Listed } from '#shared/audit/list.ts';
import { InputError, operation } from '../operation.ts';
import { pageInput, pageOf } from '../page.ts';
import { SPELLINGS } from '../texts.ts';
import { MOMENT, momentIn } from './audit-moment.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

const KINDS = Object.keys(EVENT_KINDS) as [Kind, ...Kind[]];

const moment = z.string().max(40, fault(MOMENT)).exactOptional();
const id = z
  .string()
  .max(512, fault(said('too-long', { most: 512 })))
  .exactOptional();

const item = z.looseObject({
  seq: z.int().describe('the number of the event in the log, which never changes'),
  time: z.string().describe('ISO 8601'),
  kind: z.string(),
  who: z
    .union([
      z.strictObject({ person: z.string() }),
      z.strictObject({ client: z.string() }),
      z.enum(['operator', 'server']),
    ])
    .describe('somebody who did it'),
  how: z.string().describe('by which door'),
});

/**
 * Lists events, newest first. An event that is younger than a second may still be missing, since the servers add
 * events to the log in batches.
 */
export const listAudit = operation({
  name: 'audit list',
  summary: 'list what was changed, by whom and how',
  effect: 'reads',
  input: z.strictObject({
    since: moment
      .describe(
        'only events since an ISO 8601 time such as 2026-11-25T08:00Z, or 90s, 15m, 2h or 7d ago',
      )
      .register(SPELLINGS, { value: 'TIME' }),
    until: moment.describe('only before then').register(SPELLINGS, { value: 'TIME' }),
    kind: z
      .enum(KINDS, fault(said('event-kind')))
      .exactOptional()
      .describe('only events of this kind, such as sign-in.refused'),
    person: id
      .describe('only what this person did, or what is about them (user show NAME)')
      .register(SPELLINGS, { value: 'ID' }),
    client: id.describe('only what this application did, or what is about it: an id'),
    ...pageInput,
  }),
  operands: [],
  output: pageOf(item).extend({
    names: z
      .record(z.string(), z.string())
      .describe(
        'the names of the people of these events, by id; a person who was removed has none',
      ),
    client_names: z
      .record(z.string(), z.string())
      .describe('the names of the clients of these events, by id, likewise'),
  }),
  async run(
    { since, until, after, limit, ...filter },
    { stores: { audit, people, clients }, clock },
  ) {
    const timeOf = (name: string, text: string | undefined) => {
      const at = text === undefined ? undefined : momentIn(text, clock.now());
      if (text !== undefined && at === undefined) throw new InputError([name], MOMENT);
      return at;
    };
    const between = { since: timeOf('since', since), until: timeOf('until', until) };
    const { events, next } = await listEvents(
      audit,
      { ...filter, ...between },
      { after: placeIn(after), limit, newestFirst: true },
    );
    return {
      items: events.map((one) => ({ ...one })),
      ...(next !== undefined && { next: String(next) }),
      names: await namesIn(events, 'person', async (one) => (await people.get(one))?.name),
      client_names: await namesIn(
        events,
        'client',
        async (one) => (await clients.get(one))?.client_name,
      ),
    };
  },
});

/** Throws `InputError` if the text is no position in the log. */
function placeIn(after: string | undefined): number | undefined {
  if (after === undefined) return undefined;
  if (!/^\d{1,15}$/.test(after)) throw new InputError(['after'], said('page-unknown'));
  return Number(after);
}

/** Returns the names of all people and clients in the events, as actor or subject. */
async function namesIn(
  events: readonly Listed[],
  actor: 'person' | 'client',
  nameOf: (one: string) => Promise<string | undefined>,
): Promise<Readonly<Record<string, string>>> {
  const ids = new Set(
    events
      .flatMap((event) => [event, typeof event.who === 'object' ? event.who : {}])
      .map((one): unknown => Reflect.get(one, actor))
      .filter((one) => typeof one === 'string'),
  );
  const named = await Promise.all([...ids].map(async (one) => [one, await nameOf(one)] as const));
  return Object.fromEntries(
    named.flatMap(([one, name]) => (name === undefined ? [] : [[one, name]])),
  );
}
