import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import { sameText } from '#shared/base/constant-time.ts';
import type { Clock } from '#shared/base/clock.ts';
import { apiKeySecretHash, parseApiKey } from '#shared/people/api-key.ts';
import { BadRequest } from '#shared/http/fields.ts';
import type { ApiKeyRecord, ApiKeys } from '#shared/stores/credentials/api-keys.ts';
import type { Limits, Rate, Spent } from '#shared/stores/limits/limits.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AuthRequest, Grounds, Scheme, Verdict } from '../../scheme.ts';

export interface ApiKeyOptions {
  readonly realm: string;
  /** Name of the request field. */
  readonly field: string;
  /** Name of the query parameter that a key may come in as well; absent: none. */
  readonly query?: string;
  /** Requests with one key. */
  readonly limit: Rate;
  readonly apiKeys: Pick<ApiKeys, 'get' | 'touch'>;
  readonly limits: Limits;
  readonly attempts: Attempts;
  readonly clock: Clock;
  /** Whether keys that the first start made are taken (never in production). */
  readonly demo: boolean;
}

/** A key is judged in one message. */
type Judged = Exclude<Verdict, { kind: 'continued' }>;

/** Milliseconds between two notes of the use of one key. */
const TOUCH_EVERY = 60_000;

const TOUCHED_KEYS = 10_000;

/** Compared with when there is no such key; the hash of no secret. */
const NOBODY = '-'.repeat(43);

/** Of answers to a request with a key in its target, which others may keep and pass on as it is. */
const QUERY_FIELDS: Fields = {
  'Cache-Control': 'private, no-store',
  'Referrer-Policy': 'no-referrer',
};

/**
 * RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11 (sections 3 and 4): the
 * bucket as quota `q`, which fills in the window `w`; `r` may come within the next `t` seconds.
 */
function rateLimitFields({ burst, per }: Rate, spent: Spent): Fields {
  const [remaining, seconds] = spent.ok ? [spent.remaining, spent.reset] : [0, spent.retryAfter];
  return {
    'RateLimit-Policy': `"api-key";q=${burst};w=${Math.max(1, Math.ceil(burst * per))}`,
    RateLimit: `"api-key";r=${remaining};t=${seconds}`,
  };
}

/**
 * Keys of applications (specification 2.5 and 5.4). Not a scheme of RFC 9110: there is no challenge, and
 * a key does not come in the Authorization field.
 */
export function apiKey(options: ApiKeyOptions): Scheme {
  const { realm, field, query, limit, apiKeys, limits, attempts, clock, demo } = options;
  const touched = new RecentMap<number>(TOUCHED_KEYS);

  function inQuery({ target }: AuthRequest): string | undefined {
    const question = target.indexOf('?');
    if (query === undefined || question === -1) return undefined;
    const values = new URLSearchParams(target.slice(question)).getAll(query);
    if (values.length > 1) throw new BadRequest(`The parameter ${query} may be sent once only.`);
    return values[0];
  }

  /** Throws `BadRequest` when there is more than one. */
  function find(request: AuthRequest): { text: string; fields: Fields } | undefined {
    const inField = request.field(field);
    const parameter = inQuery(request);
    if (inField !== undefined && parameter !== undefined) {
      throw new BadRequest('An API key may be sent in one place only.');
    }
    if (parameter !== undefined) return { text: parameter, fields: QUERY_FIELDS };
    return inField === undefined ? undefined : { text: inField, fields: {} };
  }

  /** Whatever is wrong with a key, the same is done. */
  function acceptable(key: ApiKeyRecord | undefined, secret: string): key is ApiKeyRecord {
    const right = sameText(apiKeySecretHash(secret), key?.secret_hash ?? NOBODY);
    const alive = (key?.expires_at ?? Infinity) > clock.now();
    return right && alive && key?.realm === realm && (demo || !key.demo);
  }

  /** Neither delays nor fails the request: a store that is down shows when the next key is looked up. */
  function noteUse(id: string): void {
    const now = clock.now();
    if (now - (touched.get(id) ?? -Infinity) < TOUCH_EVERY) return;
    touched.set(id, now);
    apiKeys.touch(id, now).catch(() => undefined);
  }

  function judgeKey(text: string, address: string): Awaitable<Judged> {
    const parsed = parseApiKey(text);
    if (parsed === undefined) return { kind: 'refused', reason: 'not an API key' };
    const { id, secret } = parsed;
    return andThen(attempts.begin(id, address), (tooMany) => {
      if (tooMany !== undefined) return tooMany;
      return apiKeys.get(id).then((key) => {
        if (!acceptable(key, secret)) {
          attempts.failed(id, address);
          return { kind: 'refused', reason: 'wrong API key' };
        }
        attempts.succeeded(id, address);
        noteUse(id);
        const grounds = groundsOf(key, secret);
        return andThen(limits.spend('api-key', id, limit), (spent) => within(key, spent, grounds));
      });
    });
  }

  /** A key whose end was set to a moment that is past is revoked; one that nobody has touched expires. */
  function groundsOf({ id, expires_at: end = Infinity }: ApiKeyRecord, secret: string): Grounds {
    let known = end;
    return {
      of: `API key ${id}`,
      async end() {
        const now = await apiKeys.get(id);
        const until = now ? (now.expires_at ?? Infinity) : known;
        if (acceptable(now, secret)) {
          known = until;
          return undefined;
        }
        return until === known && until <= clock.now() ? 'expired' : 'revoked';
      },
    };
  }

  function within({ application, scopes }: ApiKeyRecord, spent: Spent, grounds: Grounds): Judged {
    const fields = rateLimitFields(limit, spent);
    if (!spent.ok) {
      const { retryAfter } = spent;
      return { kind: 'unavailable', status: 429, reason: 'limit of the key', retryAfter, fields };
    }
    return {
      kind: 'granted',
      principal: { kind: 'application', id: application, scopes: new Set(scopes) },
      grounds,
      proof: { fields },
    };
  }

  return {
    name: 'API-Key',

    /** Without the value, so that no log can have it. */
    locate: (request) => find(request) && { scheme: 'api-key', rest: '' },

    challenge: () => [],

    needs: () => `A valid API key is needed in the field ${field}.`,

    authenticate(_, request) {
      const found = find(request);
      if (found === undefined) return { kind: 'refused', reason: `not in the field ${field}` };
      return andThen(judgeKey(found.text, request.peer.address), (verdict): Verdict => {
        if (verdict.kind === 'granted') {
          return { ...verdict, proof: { fields: { ...verdict.proof?.fields, ...found.fields } } };
        }
        return { ...verdict, fields: { ...verdict.fields, ...found.fields } };
      });
    },
  };
}
