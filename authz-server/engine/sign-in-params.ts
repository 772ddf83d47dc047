import { errors } from 'oidc-provider';
import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { isKnownOrNone } from '../base/acr-values.ts';
import { claimsRequest } from '../base/claims-request.ts';

type Params = Record<string, unknown>;

/** The parameters about the sign-in (OpenID Connect Core 1.0 section 3.1.2.1). */
const NAMES = ['acr_values', 'max_age'] as const;
/** The engine's routes that accept these parameters. */
const ROUTES: ReadonlySet<string> = new Set([
  'authorization',
  'pushed_authorization_request',
  'device_authorization',
]);

/**
 * Makes the engine accept the parameters about the sign-in from a client that does not ask for `openid`, as RFC 9470
 * section 4 does. The engine would refuse such a request, so the parameters are hidden until that check is over, and
 * `SIGN_IN_PARAMS` shows them again. The engine compares resources as texts, so `named` gives each its usual spelling.
 * Without `hasCreate` no visitor can make an account, and `prompt=create` is as without it.
 */
export function readParams(
  provider: Provider,
  { named, hasCreate }: { named: (resource: string) => string; hasCreate: boolean },
): void {
  class Context extends provider.OIDCContext {
    constructor(ctx: ConstructorParameters<Provider['OIDCContext']>[0]) {
      super(ctx);
      const hides = ROUTES.has(this.route);
      let params: Params | undefined;
      const set = (all: Params) => {
        const { resource } = all;
        if (typeof resource === 'string') all['resource'] = named(resource);
        if (Array.isArray(resource)) all['resource'] = resource.map((one) => named(String(one)));
        if (hides && !hasCreate) leaveOutCreate(all);
        params = hides ? hidden(all) : all;
      };
      Object.defineProperty(this, 'params', { get: () => params, set });
    }
  }
  Object.defineProperty(provider, 'OIDCContext', { value: Context });
}

/** Leaves `create` out of `prompt` (Initiating User Registration via OpenID Connect 1.0 section 4.1). */
function leaveOutCreate(all: Params): void {
  const { prompt } = all;
  if (typeof prompt !== 'string') return;
  const others = prompt.split(' ').filter((value) => value !== 'create');
  all['prompt'] = others.length === 0 ? undefined : others.join(' ');
}

const values = new WeakMap<Params, Params>();

/** A parameter that was sent twice is not hidden, so that the engine refuses it (RFC 6749 section 3.1). */
function hidden(params: Params): Params {
  const kept: Params = {};
  for (const name of NAMES.filter((one) => !Array.isArray(params[one]))) {
    kept[name] = params[name];
    const set = (value: unknown) => (kept[name] = value);
    const descriptor = { get: () => undefined, set, enumerable: true, configurable: true };
    Object.defineProperty(params, name, descriptor);
  }
  values.set(params, kept);
  return params;
}

/** Shows a hidden parameter to the engine again, and returns its value. */
function show({ oidc: { params = {} } }: KoaContextWithOIDC, name: string): unknown {
  const value = values.get(params)?.[name];
  const descriptor = { value, writable: true, enumerable: true, configurable: true };
  Object.defineProperty(params, name, descriptor);
  return value;
}

/**
 * Moves the values of `acr` from `claims` to `acr_values`, so that one rule holds for both: a stronger sign-in satisfies
 * a request, too. The engine's own rule for `claims` would refuse it. Returns the values that were moved.
 */
function takeAcr({ oidc: { params = {} } }: KoaContextWithOIDC): string | undefined {
  const { id_token, ...others } = claimsRequest(params['claims']);
  const { acr, ...rest } = id_token;
  if (acr === undefined) return undefined;
  params['claims'] = JSON.stringify({ id_token: rest, ...others });
  const asked = (acr as { values: readonly string[] }).values.join(' ');
  params['acr_values'] ??= asked;
  return asked;
}

/** Shows the engine the parameters about the sign-in, and checks them. */
export const SIGN_IN_PARAMS = {
  /**
   * Throws `unmet_authentication_requirements` for values that no sign-in here can meet. The request fails, since its
   * client would get tokens that its resource refuses again and again (RFC 9470 section 5).
   */
  acr_values(ctx) {
    const ofParameter = show(ctx, 'acr_values');
    const ofClaims = takeAcr(ctx);
    if (ofParameter !== undefined && ofClaims !== undefined) {
      throw new errors.InvalidRequest('ask for acr by acr_values or by claims, not by both');
    }
    if (!isKnownOrNone(ofParameter)) {
      throw new errors.UnmetAuthenticationRequirements('none of the acr_values is known here');
    }
  },

  /** Throws `invalid_request` for a value that is not a number of seconds in digits. 0 means `prompt=login`. */
  max_age(ctx) {
    const maxAge = show(ctx, 'max_age');
    if (maxAge === undefined) return;
    if (typeof maxAge !== 'string' || !/^\d{1,15}$/.test(maxAge)) {
      throw new errors.InvalidRequest('invalid max_age parameter value');
    }
    const { params = {}, prompts } = ctx.oidc;
    if (Number(maxAge) > 0) return;
    params['max_age'] = undefined;
    params['prompt'] = [...new Set([...prompts, 'login'])].join(' ');
  },
} satisfies Configuration['extraParams'];
