import { createHash } from 'node:crypto';
import { recover } from '#shared/base/awaitable.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import { HttpError } from '#shared/http/answer.ts';
import { has } from '#shared/http/fields.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import { answerOf } from './answer.ts';
import type { AskParts, Look } from './parts.ts';
import { createDecide } from './decide.ts';
import { type Begun, Fill } from './fill.ts';
import type { Handling } from './rules/cache-status.ts';
import { demandsOf, isForOrigin } from './rules/demands.ts';
import { ageOf } from './rules/freshness.ts';
import { reuseOf } from './rules/reuse.ts';
import { CLIENT_CONDITIONS, conditionLines } from './rules/validation.ts';
import { matches } from './rules/vary.ts';
import type { Stored } from './rules/stored.ts';
import { setTimeout } from '#shared/base/safe-timers.ts';

/** Milliseconds for which a request waits for a shared answer to an earlier request. */
const PATIENCE = 5000;
/** Milliseconds for which requests for a key do not wait for each other, after an answer that could not be shared. */
const ALONE = 5000;
/** Milliseconds between a failed background refresh of a key and the next. */
const REST = 5000;
/** Milliseconds for which no answer of a key is stored, after one was too long or the store failed. */
const OUTGROWN = 60_000;
/** The most keys for which each of these times is remembered. */
const KEYS = 10_000;
/** Characters: a name of at least this length is replaced by its digest. */
const LONG = 256;

/** Asks the application once for all requests that wait for the same answer. */
export interface Ask {
  (look: Look): Promise<ResourceAnswer | undefined>;
  /** Refreshes a stored answer in the background, while no client waits for the new answer. */
  refresh(look: Look): void;
}

export function createAsk(parts: AskParts): Ask {
  const { fills, policy, member, hit, clock, random, bans } = parts;
  const decide = createDecide(parts);
  /** By key: the `monotonic()` time until which requests do not wait for each other. */
  const alone = new RecentMap<number>(KEYS);
  const resting = new RecentMap<number>(KEYS);
  const outgrown = new RecentMap<number>(KEYS);
  const isUntil = (times: RecentMap<number>, name: string) =>
    (times.get(name) ?? -Infinity) > clock.monotonic();

  async function ask(look: Look): Promise<ResourceAnswer | undefined> {
    const name = nameOf(look);
    if (isOwn(look) || isUntil(alone, name)) return lead(look, undefined);
    const open = fills.get(name);
    return open ? follow(look, open) : lead(look, name);
  }

  /** Asks the application. `name`: by which other requests find this one and wait for its answer. */
  function begin(look: Look, asker: 'client' | 'nobody', name: string | undefined) {
    const { asking, key, variants, stored, fwd } = look;
    const conditions = stored
      ? conditionLines([stored, ...variants.filter((one) => one !== stored)])
      : [];
    const validates = conditions.length > 0;
    let detail: string | undefined;
    const passing = () =>
      asking.passing(() => [['Cache-Status', member({ hit: false, fwd, detail })]]);
    const requested = clock.now();
    const mark = bans.mark;
    const fill: Fill = new Fill({
      asker: asker === 'client' ? passing() : undefined,
      decide(head) {
        const tooLong = isUntil(outgrown, nameOf(look));
        const begun = decide(look, { validates, requested, doomed: fill.doomed, tooLong }, head);
        if (begun.kind === 'instead' && begun.why === 'validated') resting.delete(nameOf(look));
        if (begun.kind !== 'passed') return begun;
        detail = begun.why;
        // A directive or condition of one client says nothing about whether answers to other clients can be shared.
        const isClients = isOwn(look) || begun.why === 'request-no-store';
        if (!isClients) alone.set(nameOf(look), clock.monotonic() + ALONE);
        return begun;
      },
      async commit(entry, writing) {
        const replaced = variants.filter(({ vary }) => matches(vary, asking.request.rawHeaders));
        const ids = replaced.map(({ id }) => id);
        const kept = await bans.admit(mark, entry, () => writing.commit(ids));
        if (kept === undefined) writing.abandon();
        alone.delete(nameOf(look));
        resting.delete(nameOf(look));
      },
      outgrown: () => outgrown.set(nameOf(look), clock.monotonic() + OUTGROWN),
      over: () => remove(),
    });
    const remove = fills.add(key, fill, name);
    const change = (given: Lines): Lines =>
      validates
        ? [...given.filter(([field]) => !CLIENT_CONDITIONS.has(field.toLowerCase())), ...conditions]
        : given;
    if (asker === 'client') fill.attend(asking.exchange);
    void recover<void>(
      () => asking.forward(fill, change),
      (error) => fill.fail(error),
    );
    return { fill, validates };
  }

  async function lead(look: Look, name: string | undefined): Promise<ResourceAnswer | undefined> {
    const { fwd } = look;
    const { fill, validates } = begin(look, 'client', name);
    const begun = await begunFor(look, fill);
    if (begun.kind === 'passed') return undefined;
    if (begun.kind === 'again')
      return lead({ ...look, variants: [], stored: undefined }, undefined);
    if (begun.kind === 'stored') {
      const all = { ...begun.stored, lines: begun.lines };
      return fromFill(look, fill, all, { hit: false, fwd, stored: true }, validates);
    }
    return instead(look, begun, {
      hit: false,
      fwd,
      ...(begun.why === 'validated' ? { fwdStatus: 304 } : { detail: 'error' }),
    });
  }

  /** Returns the answer that has begun, or a stored one if there is none (RFC 5861 section 4, RFC 9111 section 4.2.4). */
  async function begunFor(look: Look, fill: Fill): Promise<Begun> {
    const { stored, onError, disconnected } = look;
    try {
      return await fill.begun;
    } catch (error) {
      const mayStand = onError > 0 || disconnected;
      if (stored === undefined || !mayStand || !isNoAnswer(error)) throw error;
      return { kind: 'instead', stored, why: 'silence', keep: 'kept' };
    }
  }

  async function follow(look: Look, fill: Fill): Promise<ResourceAnswer | undefined> {
    const { asking, fwd } = look;
    const leave = fill.attend(asking.exchange);
    const shared = await atMost(PATIENCE, sharedBy(look, fill));
    if (shared && !asking.exchange.destroyed) {
      const handling: Handling = { hit: false, fwd, collapsed: true };
      if (shared.kind === 'stored') {
        const age = ageOf(policy(shared.stored), clock.now());
        return fromFill(look, fill, shared.stored, handling, true, age);
      }
      return instead(look, shared, handling);
    }
    leave();
    return lead(look, undefined);
  }

  /** The answer to another request, if it may be shared. Undefined: the caller asks the application itself. */
  async function sharedBy(look: Look, fill: Fill) {
    const begun = await begunFor(look, fill).catch(ifOfApplication);
    if (begun?.kind !== 'stored' && begun?.kind !== 'instead') return undefined;
    const { rawHeaders } = look.asking.request;
    if (!matches(begun.stored.vary, rawHeaders) || !isUsable(begun, look, fill)) return undefined;
    return begun.kind === 'instead' || (await fill.isSafe()) ? begun : undefined;
  }

  /**
   * Returns an answer that is still arriving. `conditional`: the cache evaluates the client's conditions, which the
   * application did not get.
   */
  function fromFill(
    { asking: { request } }: Look,
    fill: Fill,
    stored: Stored,
    handling: Handling,
    conditional: boolean,
    age?: number,
  ): ResourceAnswer {
    const { method = '', rawHeaders } = request;
    const asked = { method, rawHeaders: conditional ? rawHeaders : [] };
    const source = { stored, pieces: fill.pieces.bind(fill) };
    return answerOf(source, asked, { age, member: member(handling) }, random);
  }

  /** Whether another client may get the answer. */
  function isUsable(begun: Extract<Begun, { stored: Stored }>, look: Look, fill: Fill): boolean {
    if (begun.kind === 'instead') {
      return begun.keep === 'kept' && (begun.why !== 'error' || look.onError > 0);
    }
    if (!fill.readable) return false;
    const { stored } = begun;
    const demands = demandsOf(look.asking.request.rawHeaders);
    const reuse = reuseOf(stored, policy(stored), demands, clock.now());
    return reuse.kind === 'fresh' || reuse.kind === 'stale';
  }

  /** Returns a stored answer in place of the application's answer: after a 304, an error, or no answer. */
  async function instead(
    look: Look,
    { stored, keep }: Extract<Begun, { kind: 'instead' }>,
    handling: Handling,
  ): Promise<ResourceAnswer | undefined> {
    const age = ageOf(policy(stored), clock.now());
    const ttl = policy(stored).lifetime - age;
    const answer = await hit(look.asking, { stored, age, ttl }, { ...handling, ttl });
    if (keep === 'ended') void parts.store.remove(stored);
    return answer ?? lead({ ...look, variants: [], stored: undefined }, undefined);
  }

  function refresh(look: Look): void {
    const name = nameOf(look);
    if (look.asking.request.method !== 'GET' || fills.get(name) || isUntil(resting, name)) return;
    resting.set(name, clock.monotonic() + REST);
    begin({ ...look, fwd: 'stale' }, 'nobody', name);
  }

  return Object.assign(ask, { refresh });
}

/**
 * The name under which requests wait together. A long name is hashed, since clients choose its length and the cache
 * remembers some names.
 */
function nameOf({ key, asking }: Look): string {
  const name = [asking.request.method, key.target, key.whose, key.content].join('\n');
  return name.length < LONG ? name : createHash('sha256').update(name).digest('base64url');
}

/**
 * Whether the client's own conditions go to the application: no stored answer exists by which the cache could evaluate
 * them.
 */
function isOwn({ asking: { request }, stored }: Look): boolean {
  if (stored !== undefined) return false;
  const { rawHeaders } = request;
  if (isForOrigin(rawHeaders)) return true;
  return [...CLIENT_CONDITIONS].some((name) => has(rawHeaders, name));
}

/** Whether the application gave no answer, which RFC 5861 section 4 treats as an error. */
function isNoAnswer(error: unknown): boolean {
  return error instanceof HttpError && error.status >= 502 && error.status <= 504;
}

/** Rethrows errors of the application. An error of one client's connection must not reach the other clients. */
function ifOfApplication(error: unknown): undefined {
  if (error instanceof HttpError && (error.status === 502 || error.status === 504)) throw error;
}

/** Resolves to undefined if the work takes longer. */
async function atMost<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), milliseconds);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
