import { listConsents } from '#shared/people/access/consents.ts';
import { listAccess, type ListedAccess } from '#shared/people/access/grants.ts';
import { listSignIns, type SignIn } from '#shared/people/access/sign-ins.ts';
import { type Html, html } from '#shared/pages/html.ts';
import type { PagesServer } from '../../base/server.ts';
import type { EndOneProps } from '../frame/account-view.ts';
import type { View } from '../frame/view.ts';
import type { Visitor } from '../sign-in/session.ts';
import { placeSince } from '../views/account-applications.ts';
import { browserSince } from '../views/account-sign-ins.ts';
import { clientName } from './client-name.ts';

type Kind = EndOneProps['kind'];

/** A sign-in, application, grant or key of a person, and what ends with it. */
interface Thing {
  readonly name: string | Html;
  readonly signIns?: readonly SignIn[];
  readonly accesses?: readonly ListedAccess[];
}

/**
 * Finds what the id names among the visitor's own entries, with what ends with it. Undefined: the visitor has no such
 * entry.
 */
type Find = (
  server: PagesServer,
  view: View,
  accountId: string,
  id: string,
) => Promise<Thing | undefined>;

const FINDS: ReadonlyMap<string, Find> = new Map<Kind, Find>([
  ['sign-in', findSignInOf],
  ['access', findAccessOf],
  ['application', findApplicationOf],
  ['key', findKeyOf],
  ['passkey', findPasskeyOf],
]);

/**
 * Returns the props of a page that asks before it ends an entry of a visitor. Undefined: the visitor has no such entry.
 */
export async function endOneProps(
  server: PagesServer,
  view: View,
  visitor: Visitor,
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<
  Pick<EndOneProps, 'kind' | 'name' | 'isHere' | 'browsers' | 'applications'> | undefined
> {
  const find = FINDS.get(kind);
  const found = await find?.(server, view, visitor.person.id, id);
  if (found === undefined) return undefined;
  const { name, signIns = [], accesses = [] } = found;
  const isApplication = kind === 'application';
  const clients = new Set(isApplication ? [] : accesses.map(({ clientId }) => clientId));
  return {
    // The table has a row for each known kind, so another value finds nothing.
    kind: kind as Kind,
    name,
    isHere: signIns.some(({ uid }) => uid === visitor.signIn.uid),
    browsers: isApplication
      ? accesses.map((access) => placeSince(view, placeOfAccess(access)))
      : signIns.map((signIn) => browserSince(view, signIn)),
    applications: await Promise.all(
      [...clients].map((clientId) => clientName(server, clientId, view.language)),
    ),
  };
}

async function findSignInOf(
  server: PagesServer,
  view: View,
  accountId: string,
  id: string,
): Promise<Thing | undefined> {
  const signIn = (await listSignIns(server, accountId)).find(({ uid }) => uid === id);
  if (signIn === undefined) return undefined;
  const accesses = await listAccess(server, accountId);
  return {
    name: browserSince(view, signIn),
    signIns: [signIn],
    accesses: accesses.filter((access) => access.signIn === id),
  };
}

async function findAccessOf(
  server: PagesServer,
  view: View,
  accountId: string,
  id: string,
): Promise<Thing | undefined> {
  const access = (await listAccess(server, accountId)).find(({ grantId }) => grantId === id);
  if (access === undefined) return undefined;
  const client = await clientName(server, access.clientId, view.language);
  return { name: html`${client}, ${placeSince(view, placeOfAccess(access))}` };
}

async function findApplicationOf(
  server: PagesServer,
  { language }: View,
  accountId: string,
  id: string,
): Promise<Thing | undefined> {
  const isIts = ({ clientId }: { readonly clientId: string }) => clientId === id;
  const accesses = (await listAccess(server, accountId)).filter(isIts);
  const consents = (await listConsents(server, accountId)).filter(isIts);
  if (accesses.length + consents.length === 0) return undefined;
  return { name: await clientName(server, id, language), accesses };
}

async function findKeyOf(
  { stores }: PagesServer,
  _view: View,
  accountId: string,
  id: string,
): Promise<Thing | undefined> {
  return (await stores.publicKeys.of({ kind: 'person', id: accountId })).find(
    (key) => key.id === id,
  );
}

async function findPasskeyOf(
  server: PagesServer,
  _view: View,
  accountId: string,
  id: string,
): Promise<Thing | undefined> {
  const passkey = (await server.stores.passkeys.of(accountId)).find((one) => one.id === id);
  if (passkey === undefined) return undefined;
  const isIts = (one: { readonly passkey?: string }) => one.passkey === id;
  return {
    name: passkey.name,
    signIns: (await listSignIns(server, accountId)).filter(isIts),
    accesses: (await listAccess(server, accountId)).filter(isIts),
  };
}

const placeOfAccess = ({ device, browser, since }: ListedAccess) =>
  Object.assign({ since, isDevice: device !== undefined }, device ?? browser);
