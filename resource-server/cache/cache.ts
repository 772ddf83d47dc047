import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { HttpError } from '#shared/http/answer.ts';
import { METHODS } from '#shared/http/methods.ts';
import { note } from '#shared/server/message/request-log.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Pieces, ResourceAnswer } from '../answers/pieces.ts';
import { answerOf, type Source } from './answer.ts';
import type { Asking } from './asking.ts';
import { createAsk } from './ask.ts';
import type { CacheParts, Hit, Look } from './parts.ts';
import { createChange } from './change.ts';
import { Fills } from './fills.ts';
import { keyOf } from './key-of.ts';
import { type Handling, statusMember } from './rules/cache-status.ts';
import { demandsOf, isForOrigin } from './rules/demands.ts';
import { type Policy, policyOf } from './rules/freshness.ts';
import type { Forgotten } from './rules/invalidating.ts';
import { reuseOf } from './rules/reuse.ts';
import { select } from './rules/vary.ts';
import type { CacheKey, Stored } from './rules/stored.ts';
import type { Ending } from '../forwarding/sink.ts';
import { pieceSize } from './piece-size.ts';
import type { Content } from './store/cache-store.ts';

/** The name of this cache in Cache-Status (RFC 9211 section 2). */
const NAME = 'Countersign';

/** The cache of one space, in front of its application (RFC 9111). */
export interface Cache {
  /** Answers a request. Undefined: the answer was already passed to the client. Rejects as `Asking.forward` does. */
  answer(asking: Asking): Awaitable<ResourceAnswer | undefined>;
  /**
   * Removes the answers that an entry of the feed names, and uses none of them afterwards. `at`: the entry's time in
   * the feed.
   */
  forget(forgotten: Forgotten, soft?: boolean, at?: number): void;
  /** Removes all stored answers. */
  clear(): void;
  /** The number of requests answered from the store, and of requests sent to the application by reason. */
  readonly counts: Readonly<Record<string, number>>;
}

export function createCache(parts: CacheParts): Cache {
  const { rules, store, bans, feed, clock, random } = parts;
  const fills = new Fills();
  const policies = new WeakMap<Stored, Policy>();

  function policy(stored: Stored): Policy {
    let known = policies.get(stored);
    if (known === undefined) policies.set(stored, (known = policyOf(stored, rules)));
    return known;
  }

  const counts: Record<string, number> = {};

  function member(handling: Handling): string {
    const came = handling.hit ? 'hit' : handling.fwd;
    counts[came] = (counts[came] ?? 0) + 1;
    return statusMember(NAME, handling);
  }

  const common = { ...parts, fills, policy, member, hit, forget, isUpToDate };
  const ask = createAsk(common);
  const change = createChange(common);

  /** Answers with a stored entry. Returns undefined if its content was removed. */
  function hit(
    { request, exchange }: Asking,
    { stored, age }: Hit,
    handling: Handling,
  ): Awaitable<ResourceAnswer | undefined> {
    return andThen(store.content(stored), (content) => {
      if (content === undefined) return undefined;
      if (handling.hit) note(request, { cache: 'hit' });
      const source = sourceOf(stored, content, exchange);
      const { method = '', rawHeaders } = request;
      const asked = { method, rawHeaders };
      return answerOf(source, asked, { age, member: member(handling) }, random);
    });
  }

  function forget(forgotten: Forgotten, soft = false, at = clock.now()): void {
    fills.doom(forgotten);
    if (forgotten.kind === 'target') void store.removeTarget(forgotten.value, soft);
    else bans.add({ ...forgotten, soft, at });
  }

  function pass(asking: Asking, handling: Handling): Awaitable<undefined> {
    const sink = asking.passing(() => [['Cache-Status', member(handling)]]);
    return andThen(asking.forward(sink), () => undefined);
  }

  /** Whether the cache has read all invalidations since `since`. If not, no stored answer may be used. */
  function isUpToDate(since: number): Awaitable<boolean> {
    return recover(
      () => andThen(feed.latest(since), () => true),
      (error) => {
        if (error instanceof StoreUnavailable) return false;
        throw error;
      },
    );
  }

  function read(asking: Asking): Awaitable<ResourceAnswer | undefined> {
    return andThen(keyOf(asking, rules), (key) => {
      if (typeof key === 'string') return pass(asking, { hit: false, fwd: 'bypass', detail: key });
      return andThen(isUpToDate(asking.arrived), (known) =>
        known
          ? andThen(store.find(key), (found) => choose(asking, key, bans.among(found)))
          : pass(asking, { hit: false, fwd: 'bypass', detail: 'feed' }),
      );
    });
  }

  /** Chooses between a stored answer and the application (RFC 9111 section 4). */
  function choose(
    asking: Asking,
    key: CacheKey,
    variants: readonly Stored[],
  ): Awaitable<ResourceAnswer | undefined> {
    const { rawHeaders } = asking.request;
    const demands = demandsOf(rawHeaders);
    const stored = isForOrigin(rawHeaders) ? undefined : select(variants, rawHeaders);
    const look: Look = {
      asking,
      key,
      variants,
      stored,
      onError: 0,
      disconnected: false,
      fwd: variants.length > 0 ? 'vary-miss' : 'uri-miss',
    };
    if (stored === undefined) {
      if (demands?.flags.has('only-if-cached')) throw notStored();
      return ask(look);
    }
    const reuse = reuseOf(stored, policy(stored), demands, clock.now());
    if (reuse.kind === 'none') throw notStored();
    if (reuse.kind === 'validate') {
      const { reason: fwd, onError, disconnected } = reuse;
      return ask({ ...look, fwd, onError, disconnected });
    }
    if (reuse.kind === 'stale' && reuse.refresh) ask.refresh(look);
    const { age, ttl } = reuse;
    return andThen(
      hit(asking, { stored, age, ttl }, { hit: true, ttl }),
      (answer) => answer ?? ask({ ...look, stored: undefined, variants: [], fwd: 'miss' }),
    );
  }

  return {
    answer(asking) {
      const { method = '' } = asking.request;
      const known = METHODS.get(method);
      if (known?.cacheable === true) return read(asking);
      return known?.safe ? pass(asking, { hit: false, fwd: 'method' }) : change(asking);
    },

    forget,
    counts,

    clear() {
      fills.doom();
      void store.clear();
    },
  };
}

/** Only-if-cached without a usable stored answer (RFC 9111 section 5.2.1.7). */
const notStored = () =>
  new HttpError(
    504,
    'Nothing is stored that could answer this, and the request wants nothing else.',
  );

/** Stored content for one exchange. The end of the exchange closes the content. */
export function sourceOf(stored: Stored, content: Content, exchange: Ending): Source {
  exchange.on('close', () => content.close());
  if (exchange.destroyed) content.close();
  return {
    stored,
    whole: content.whole,
    pieces: (first = 0, last = Infinity) => piecesOf(content, first, last + 1),
  };
}

function piecesOf(content: Content, from: number, end: number): Pieces {
  return {
    async *each(most) {
      using size = pieceSize();
      let position = from;
      while (position < end) {
        const piece = await content.read(position, Math.min(most, size.octets, end - position));
        if (piece.length === 0) return;
        position += piece.length;
        yield piece;
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}
