import { Readable } from 'node:stream';
import { BadRequest, lines, single } from '#shared/http/fields.ts';
import { parseCodedUrl } from '#shared/http/if-field.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import type { Document, Edit, Entry, Lock } from '#shared/stores/trees/trees.ts';
import { ANONYMOUS } from '../../space/account.ts';
import { davError, XML_TYPE } from '../webdav/dav-error.ts';
import { depthOf } from '../webdav/depth.ts';
import { expectedState } from '../place/expected-state.ts';
import { createInTurn, type InTurn } from '#shared/base/in-turn.ts';
import { lockDiscovery } from '../webdav/lock-discovery.ts';
import type { LockRequest } from '../webdav/lock-system.ts';
import { lockConflict } from '../webdav/locked.ts';
import { checkParent, writesOf } from '../place/member.ts';
import { parentOf } from '../resource/path.ts';
import type { MethodFactory, Place, Services } from '../place/place.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';
import { newDocument } from '../content/upload.ts';
import { readXml } from '../webdav/xml.ts';
import { davDocument, writeXml } from '../webdav/xml-writer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { davChild, elementsOf, isDav, type XmlElement } from '../webdav/xml-element.ts';

/** Seconds of a lock if the request names no timeout. */
const TIMEOUT = 3600;

/** The media type of an empty document that a lock has made. */
const EMPTY_TYPE = 'application/octet-stream';

const MATCHES = 'lock-token-matches-request-uri';
const FOREIGN = 'Only the caller that made the lock may use it (RFC 4918 section 6.4).';

interface Granted extends Pick<ResourceAnswer, 'status' | 'fields'> {
  readonly lock: Lock;
  /** The resource for which the lock was requested. */
  readonly entry: Entry;
}

/** LOCK (RFC 4918 section 9.10): a request with content makes a lock, one without content refreshes it. */
export const lock: MethodFactory = (services) => {
  const inTurn = createInTurn();
  return async (context, place) => {
    if (place.principal === ANONYMOUS) {
      throw new HttpError(403, 'Only an authenticated caller can have a lock. Send credentials.');
    }
    const { request, space } = context;
    const content = await readXml(request, place.holder);
    const granted =
      content === undefined
        ? await refreshLock(services, context, place)
        : await makeLock({ ...services, inTurn }, context, place, lockInfo(content));
    const asking = { space, principal: place.principal, now: services.clock.now() };
    return {
      status: granted.status,
      fields: { ...granted.fields, 'Content-Type': XML_TYPE },
      body: davDocument('prop', lockDiscovery([granted.lock], granted.entry, asking)),
    };
  };
};

/**
 * Makes a lock (RFC 4918 section 9.10.1), with an empty document if the resource is missing (section 9.10.4). LOCK
 * requests of one principal run one after another, so that each counts the earlier locks. Locks of other principals do
 * not delay them.
 */
async function makeLock(
  services: Services & { readonly inTurn: InTurn },
  context: ResourceContext,
  place: Place,
  info: Pick<LockRequest, 'exclusive' | 'owner'>,
): Promise<Granted> {
  const { locks } = services;
  const { store, path, principal } = place;
  const expected = expectedState(context, place, services);
  const depth = depthOf(context.request) ?? 'infinity';
  if (depth === '1') throw new BadRequest('The Depth of LOCK is 0 or infinity.');
  const seconds = timeoutOf(context.request) ?? TIMEOUT;
  const request = { ...info, root: path, deep: depth === 'infinity', principal, seconds };

  const turn = JSON.stringify([place.tree, principal]);
  const grant = (empty?: Document) => services.inTurn(turn, () => judge(empty));
  const judge = (empty?: Document) =>
    store.change([path, parentOf(path), ...expected.paths], (view) => {
      const before = view.entries.get(path);
      if (before && empty) throw new Overtaken();
      const entry = before ?? empty;
      if (entry === undefined) throw notFound();
      checkParent(view, path);
      const conflicts = locks.conflicting(view, request);
      if (conflicts.length > 0) throw lockConflict(context.space, view, path, conflicts);
      expected.check(view, empty ? writesOf(view, path) : []);
      const put: readonly Edit[] = empty ? [{ kind: 'put', entry: empty }] : [];
      const { lock: made, edits } = locks.create(view, request);
      return {
        edits: [...put, ...edits],
        value: { lock: made, entry, created: before === undefined },
      };
    });

  async function create() {
    try {
      return await store.receive(Readable.from([]), (received) =>
        grant(newDocument({ path, type: EMPTY_TYPE }, received, services)),
      );
    } catch (error) {
      if (error instanceof Overtaken) return grant();
      throw error;
    }
  }

  const granted = await (place.entry ? grant() : create());
  return {
    ...granted,
    status: granted.created ? 201 : 200,
    fields: { 'Lock-Token': `<${granted.lock.token}>` },
  };
}

/** Thrown if another request has created the document meanwhile, so the empty document is not needed. */
class Overtaken extends Error {}

/** Refreshes a lock (RFC 4918 section 9.10.2). Other locks on the resource do not prevent a refresh. */
async function refreshLock(
  services: Services,
  context: ResourceContext,
  place: Place,
): Promise<Granted> {
  const { locks } = services;
  const { store, path, principal } = place;
  const expected = expectedState(context, place, services);
  if (expected.tokens.size === 0) {
    throw new BadRequest('Ask for a lock with DAV:lockinfo, or name one to refresh in If.');
  }
  const seconds = timeoutOf(context.request);
  return store.change([path, ...expected.paths], (view) => {
    expected.check(view, []);
    const entry = view.entries.get(path);
    const [old, another] = locks
      .covering(view, path)
      .filter(({ token }) => expected.tokens.has(token));
    if (entry === undefined || old === undefined) {
      throw davError(412, MATCHES, 'The lock that If names is not one of this resource.');
    }
    if (another !== undefined) throw new BadRequest('Refresh one lock at a time.');
    if (old.principal !== principal) throw new HttpError(403, FOREIGN);
    const { lock: refreshed, edits } = locks.refresh(old, seconds ?? old.seconds);
    return { edits, value: { lock: refreshed, entry, status: 200, fields: {} } };
  });
}

/** UNLOCK (RFC 4918 section 9.11). */
export const unlock: MethodFactory = (services) => async (context, place) => {
  const { store, path, principal } = place;
  const expected = expectedState(context, place, services);
  const field = single(context.request.rawHeaders, 'lock-token') ?? '';
  // Some clients omit the angle brackets (RFC 4918 section 10.5), for example the npm package webdav.
  const token = parseCodedUrl(field) ?? parseCodedUrl(`<${field}>`);
  if (token === undefined) throw new BadRequest('Name the lock as `Lock-Token: <urn:uuid:...>`.');

  await store.change([path, ...expected.paths], (view) => {
    expected.check(view, []);
    const covering = services.locks.covering(view, path);
    const named = covering.find((one) => one.token === token);
    if (named === undefined) throw davError(409, MATCHES, 'This is no lock of this resource.');
    if (named.principal !== principal) throw new HttpError(403, FOREIGN);
    return { edits: [{ kind: 'unlock', locks: [named] }], value: undefined };
  });
  return { status: 204, fields: {} };
};

/** The longest owner of a lock, in bytes. It is bounded since every write reads all locks of the tree. */
const LONGEST_OWNER = 2048;

/**
 * Reads the content of LOCK (RFC 4918 section 14.11). Throws 422 if it asks for an unknown kind of lock, 413 if
 * the owner is too long.
 */
function lockInfo(content: XmlElement): Pick<LockRequest, 'exclusive' | 'owner'> {
  const scope = isDav(content, 'lockinfo') ? only(content, 'lockscope') : undefined;
  if (!(scope === 'exclusive' || scope === 'shared') || only(content, 'locktype') !== 'write') {
    throw new HttpError(
      422,
      'Send a DAV:lockinfo that asks for an exclusive or shared write lock.',
    );
  }
  const element = davChild(content, 'owner');
  const owner = element === undefined ? '' : writeXml(element);
  if (Buffer.byteLength(owner) > LONGEST_OWNER) {
    throw new HttpError(413, `The description of a lock owner has at most ${LONGEST_OWNER} bytes.`);
  }
  return { exclusive: scope === 'exclusive', owner };
}

/** The name of the only element of namespace `DAV:` in a member of a lockinfo. */
function only(content: XmlElement, name: string): string | undefined {
  const member = davChild(content, name);
  const [first, second] = member === undefined ? [] : elementsOf(member);
  return first !== undefined && second === undefined && isDav(first, first.name)
    ? first.name
    : undefined;
}

/** TimeType (RFC 4918 section 10.7). */
const TIME_TYPE = /^(?:second-(\d+)|infinite)$/i;

/**
 * Reads the Timeout field in seconds. Infinity means as long as possible. Returns the first value that is understood,
 * since the server may choose, or undefined.
 */
export function timeoutOf({ rawHeaders }: Pick<AnyRequest, 'rawHeaders'>): number | undefined {
  const wishes = lines(rawHeaders, 'timeout').flatMap((line) => line.split(','));
  for (const wish of wishes) {
    const [understood, seconds = Infinity] = TIME_TYPE.exec(wish.trim()) ?? [];
    if (understood !== undefined) return Number(seconds);
  }
  return undefined;
}
