import { endApplication } from '#shared/people/access/applications.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { endGrant, findAccess } from '#shared/people/access/grants.ts';
import { endSignIn, findSignIn } from '#shared/people/access/sign-ins.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { personNamed } from '#shared/people/people.ts';
import { type Command, Failure, UsageError } from '../arguments/command.ts';
import { keysLeft } from '../lines/keys-left.ts';
import { withPeople } from '../stores/with-people.ts';

/** Ends one part of a person's access, by its id; false: they have no such part. */
type End = (store: PeopleStore, accountId: string, id: string) => Promise<boolean>;

const PARTS: Readonly<Record<string, End>> = {
  async grant(store, accountId, id) {
    if ((await findAccess(store, id))?.accountId !== accountId) return false;
    await endGrant(store, id);
    return true;
  },
  async 'sign-in'(store, accountId, id) {
    if ((await findSignIn(store, id))?.accountId !== accountId) return false;
    await endSignIn(store, { uid: id, accountId });
    return true;
  },
  client: endApplication,
};

export const userEnd: Command = {
  name: 'user end',
  store: 'opens',
  summary:
    'end all sessions, grants and tokens of a person at once, or one of them; they can sign in again',
  operands: ['NAME'],
  options: {
    grant: {
      value: 'ID',
      help: 'end only this grant with its tokens; the consent to the application stays',
    },
    'sign-in': {
      value: 'ID',
      help: 'end only the sign-in of this browser, with the grants that depend on it',
    },
    client: { value: 'CLIENT', help: 'end only this application: its consent and all its grants' },
  },
  details: ['`user access NAME` lists the ids.'],
  run: ({ operands: [asked = ''], text }, shell) =>
    withPeople(shell, async (store) => {
      const { id, name } = await personNamed(store.stores.people, asked);
      const [part, ...others] = Object.keys(PARTS).filter((one) => text(one) !== undefined);
      if (others.length > 0)
        throw new UsageError(`give one of --${[part, ...others].join(', --')}`);
      if (part !== undefined) {
        const which = text(part) ?? '';
        if (!(await PARTS[part]?.(store, id, which))) {
          throw new Failure(`${name} has no ${part} ${which}: see user access ${name}`);
        }
        const json = { id, name, [part.replace('-', '_')]: which, ended: true };
        return { json, lines: [`The ${part} ${which} of ${name} has ended.`] };
      }
      await endEverything(store, id);
      return {
        json: { id, name, ended: true },
        lines: [
          `Everything that ${name} had opened has ended.`,
          ...(await keysLeft(store.stores, { id, name })),
        ],
      };
    }),
};
