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
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { AuthRequest, Grounds, Scheme, Verdict } from '../../scheme.ts';

export interface ApiKeyOptions {
  readonly realm: string;
  /** Name of the request field. */
  readonly field: string;
  /** Name of a query parameter that may carry a key, too; absent if only the field may. */
  readonly query?: string;
  /** Limit of requests with one key. */
  readonly limit: Rate;
  readonly apiKeys: Pick<ApiKeys, 'get' | 'touch'>;
  readonly limits: Limits;
  readonly attempts: Attempts;
  readonly clock: Clock;
  /** Whether keys that the first start created are accepted (never in production). */
  readonly demo: boolean;
}

/** The verdict on a key, which never needs several messages. */
type Judged = Exclude<Verdict, { kind: 'continued' }>;

/** Least milliseconds between two writes of a key's last use. */
const TOUCH_EVERY = 60_000;

const TOUCHED_KEYS = 10_000;

/** The hash that is compared if the key does not exist; no secret has this hash. */
const NOBODY = '-'.repeat(43);

/**
 * Fields of answers to a request with a key in its URL. They keep caches from storing the answer and pages from
 * passing the URL on.
 */
const QUERY_FIELDS: Fields = {
  'Cache-Control': 'private, no-store',
  'Referrer-Policy': 'no-referrer',
};

/**
 * Returns RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-11 sections 3 and 4). `q` is the
 * quota, `w` the seconds in which it refills; `r` requests may come within the next `t` seconds.
 */
function rateLimitFields({ burst, per }: Rate, spent: Spent): Fields {
  const [remaining, seconds] = spent.ok ? [spent.remaining, spent.reset] : [0, spent.retryAfter];
  return {
    'RateLimit-Policy': `"api-key";q=${burst};w=${Math.max(1, Math.ceil(burst * per))}`,
    RateLimit: `"api-key";r=${remaining};t=${seconds}`,
  };
}

/**
 * Makes the scheme for API keys of applications. It is not a scheme of RFC 9110: it has no challenge, and a key does
 * not come in the Authorization field.
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

  /** Finds the key of a request. Throws `BadRequest` if there is more than one. */
  function find(request: AuthRequest): { text: string; fields: Fields } | undefined {
    const inField = request.field(field);
    const parameter = inQuery(request);
    if (inField !== undefined && parameter !== undefined) {
      throw new BadRequest('An API key may be sent in one place only.');
    }
    if (parameter !== undefined) return { text: parameter, fields: QUERY_FIELDS };
    return inField === undefined ? undefined : { text: inField, fields: {} };
  }

  /** True if a key is right. The work is the same whatever is wrong with the key. */
  function acceptable(key: ApiKeyRecord | undefined, secret: string): key is ApiKeyRecord {
    const right = sameText(apiKeySecretHash(secret), key?.secret_hash ?? NOBODY);
    const alive = (key?.expires_at ?? Infinity) > clock.now();
    return right && alive && key?.realm === realm && (demo || !key.demo);
  }

  /** Returns why a key is refused. A caller without the key's secret learns nothing about the key. */
  function refusalOf(key: ApiKeyRecord | undefined, secret: string): Refusal {
    if (key === undefined || !sameText(apiKeySecretHash(secret), key.secret_hash)) {
      return refuse('api-key-wrong');
    }
    if (key.realm !== realm) return refuse('api-key-realm', { realm: key.realm, here: realm });
    return refuse(key.demo && !demo ? 'api-key-demo' : 'api-key-ended');
  }

  /**
   * Stores the time of a key's use. A failure neither delays nor refuses the request: the next look-up shows that the
   * store is down.
   */
  function noteUse(id: string): void {
    const now = clock.now();
    if (now - (touched.get(id) ?? -Infinity) < TOUCH_EVERY) return;
    touched.set(id, now);
    apiKeys.touch(id, now).catch(() => undefined);
  }

  function judgeKey(text: string, address: string): Awaitable<Judged> {
    const parsed = parseApiKey(text);
    if (parsed === undefined) return { kind: 'refused', ...refuse('api-key-form') };
    const { id, secret } = parsed;
    return andThen(attempts.begin(id, address), (tooMany) => {
      if (tooMany !== undefined) return tooMany;
      return apiKeys.get(id).then((key) => {
        if (!acceptable(key, secret)) {
          attempts.failed(id, address);
          return { kind: 'refused', ...refusalOf(key, secret) };
        }
        attempts.succeeded(id, address);
        noteUse(id);
        const grounds = groundsOf(key, secret);
        return andThen(limits.spend('api-key', id, limit), (spent) => within(key, spent, grounds));
      });
    });
  }

  /**
   * Returns the grounds of a key. A key whose end the operator moved to the past is revoked; otherwise it expires at
   * its end.
   */
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
      return { kind: 'unavailable', status: 429, ...refuse('api-key-limit'), retryAfter, fields };
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

    /** The key itself is left out, so that no log can contain it. */
    locate: (request) => find(request) && { scheme: 'api-key', rest: '' },

    challenge: () => [],

    needs: () => `A valid API key is needed in the field ${field}.`,

    authenticate(_, request) {
      const found = find(request);
      if (found === undefined) return { kind: 'refused', ...refuse('api-key-field', { field }) };
      return andThen(judgeKey(found.text, request.peer.address), (verdict): Verdict => {
        if (verdict.kind === 'granted') {
          return { ...verdict, proof: { fields: { ...verdict.proof?.fields, ...found.fields } } };
        }
        return { ...verdict, fields: { ...verdict.fields, ...found.fields } };
      });
    },
  };
}
