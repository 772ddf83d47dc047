import { endApplication } from '#shared/people/access/applications.ts';
import { type Ended, endEverything } from '#shared/people/access/everything.ts';
import { endGrant, findAccess } from '#shared/people/access/grants.ts';
import { endSignIn, findSignIn } from '#shared/people/access/sign-ins.ts';
import type { PagesServer } from '../../base/server.ts';
import type { AccountProps } from '../frame/account-view.ts';
import type { Visitor } from '../sign-in/session.ts';

type EndedPart = NonNullable<AccountProps['ended']>;
type Ending = EndedPart | 'this browser' | 'nothing' | Ended;

/** The values of the form's `end`. Each ending finds only grants, sessions and keys of the visitor. */
export const ENDINGS: ReadonlyMap<
  string,
  (server: PagesServer, visitor: Visitor, id: string) => Promise<Ending>
> = new Map([
  ['sign-in', endOneSignIn],
  ['access', endOneAccess],
  ['application', endOneApplication],
  ['key', removeKey],
  ['everything', endAll],
]);

async function endOneSignIn(server: PagesServer, visitor: Visitor, id: string): Promise<Ending> {
  const signIn = await findSignIn(server, id);
  if (signIn?.accountId !== visitor.person.id) return 'nothing';
  const { uid, accountId: person } = signIn;
  await endSignIn(server, signIn, { kind: 'sign-in.ended', person, id: uid });
  return signIn.uid === visitor.signIn.uid ? 'this browser' : 'sign-in';
}

async function endOneAccess(server: PagesServer, visitor: Visitor, id: string): Promise<Ending> {
  const access = await findAccess(server, id);
  if (access?.accountId !== visitor.person.id) return 'nothing';
  const { accountId: person, clientId: client } = access;
  await endGrant(server, id, { kind: 'grant.ended', person, grant: id, client });
  return 'access';
}

async function endOneApplication(
  server: PagesServer,
  { person }: Visitor,
  clientId: string,
): Promise<Ending> {
  return (await endApplication(server, person.id, clientId)) ? 'application' : 'nothing';
}

async function removeKey(server: PagesServer, visitor: Visitor, id: string): Promise<Ending> {
  const { stores, recorder } = server;
  const owner = (await stores.publicKeys.get(id))?.owner;
  if (owner?.kind !== 'person' || owner.id !== visitor.person.id) return 'nothing';
  const removed = { kind: 'public-key.removed', key: id, person: owner.id } as const;
  await recorder.changing('publicKeys', removed).remove(id);
  return 'key';
}

async function endAll(server: PagesServer, { person }: Visitor): Promise<Ending> {
  return endEverything(server, person.id, { kind: 'person.ended', person: person.id });
}

const ENDED_PARTS: ReadonlySet<string> = new Set<EndedPart>([
  'sign-in',
  'application',
  'access',
  'key',
  'password',
  'others',
]);

export const isEndedPart = (ended: unknown): ended is EndedPart =>
  typeof ended === 'string' && ENDED_PARTS.has(ended);
