import { trustedFor } from '#shared/http/trusted-fields.ts';
import { eachSpace, type Rule } from './rule.ts';
import type { Config, SpaceConfig } from './schema.ts';

/** Header fields that this server writes itself, to the application or in the answer of /verify. */
const OURS =
  /^(?:x-auth-(?:subject|name|email|groups|client|scope|scheme|statement)|forwarded|x-forwarded-(?:for|host|prefix|proto)|x-request-id|concealed-auth-export)$/;

/**
 * Header fields with another meaning: for the connection, the framing of content, credentials, conditional requests,
 * caches, or a browser that reads the answer of /verify.
 */
const TAKEN =
  /^(?:a-im|accept(?:-.+)?|access-control-.+|age|allow|alt-.+|authentication-.+|authorization|cache-.+|cdn-.+|clear-site-data|client-cert.*|connection|content-.+|cookie.*|date|depth|destination|dpop.*|early-data|etag|expect.*|expires|from|host|http2-settings|if(?:-.+)?|keep-alive|last-modified|link|location|lock-token|max-forwards|nel|origin.*|overwrite|pragma|prefer.*|priority|proxy.*|range|ratelimit.*|referer|referrer-policy|refresh|report.*|retry-after|sec-.+|server.*|service-worker.*|set-cookie.*|signature.*|strict-transport-security|te|timeout|timing-.+|trailer.*|transfer-encoding|upgrade.*|user-agent|vary|via|want-.+|warning|www-authenticate|x-content-type-options|x-frame-options)$/;

const namesOf = ({ identity }: SpaceConfig) => Object.keys(identity?.fields ?? {});

/** Returns the names, in lower case, of the header fields that tell an application who sent the request. */
const allNames = ({ spaces }: Pick<Config, 'spaces'>) =>
  new Set(spaces.flatMap(namesOf).map((name) => name.toLowerCase()));

/** Returns the names, in lower case, of the header fields in which a space accepts API keys. */
const keyFields = ({ spaces }: Pick<Config, 'spaces'>) =>
  new Set(spaces.map(({ apiKey }) => apiKey.field.toLowerCase()));

/** Rules about the header fields that tell applications who sent a request, or that applications trust from proxies. */
export const IDENTITY_RULES: readonly Rule[] = [
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'identity', ({ identity, serves, schemes }) => {
        if (identity === undefined) return undefined;
        if (serves !== 'upstream' && serves !== 'verify') {
          return `is for an application, and this space serves ${serves}: remove it, or let the space serve upstream or verify`;
        }
        return schemes.length === 0
          ? 'tells who was let in, and nobody is asked who they are: name schemes'
          : undefined;
      }),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'identity.fields', (space) => {
        const names = namesOf(space);
        if (space.identity && names.length === 0) return 'is empty: name a field, or a preset';
        const lower = names.map((name) => name.toLowerCase());
        const twice = names.find((_, index) => lower.indexOf(lower[index] ?? '') !== index);
        if (twice !== undefined)
          return `has ${twice} twice: case means nothing in the name of a field`;
        const taken = names.find((_, index) => isTaken(lower[index] ?? ''));
        if (taken !== undefined) {
          return `has ${taken}, which has a meaning of its own or is written by this server: choose another name`;
        }
        const keys = keyFields(config);
        const key = names.find((_, index) => keys.has(lower[index] ?? ''));
        return key && `has ${key}, in which API keys come (apiKey.field): choose another name`;
      }),
  },
  {
    reads: ['spaces', 'trustedProxies'],
    check: (config) =>
      eachSpace(config, 'upstream.pass', ({ upstream }) => {
        const { pass = [] } = upstream ?? {};
        if (pass.length > 0 && config.trustedProxies.length === 0) {
          return 'believes a proxy, and none is trusted: name it in trustedProxies';
        }
        const own = allNames(config);
        const reasons = pass.map((name) => whyNotPassed(name, own));
        return reasons.find((reason) => reason !== undefined);
      }),
  },
];

const isTaken = (name: string) =>
  OURS.test(name) || TAKEN.test(name) || trustedFor(name) === 'action';

/**
 * Says why a client's header field is not passed on. `own`: names of fields that tell an application who sent the
 * request.
 */
function whyNotPassed(name: string, own: ReadonlySet<string>): string | undefined {
  const lower = name.toLowerCase();
  const trust = trustedFor(lower);
  if (OURS.test(lower) || own.has(lower)) return `has ${name}, which this server writes itself`;
  if (trust === undefined) return `has ${name}, which every client may send: remove it`;
  return trust === 'action' || trust === 'environment'
    ? `has ${name}, by which an application would do something else than what was judged here: remove it`
    : undefined;
}
