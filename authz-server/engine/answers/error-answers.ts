import { errors } from 'oidc-provider';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { note } from '#shared/server/message/request-log.ts';
import { orTemporarilyUnavailable, TooManyRequests } from '../../base/errors.ts';

type Next = () => Promise<unknown>;

/** What the standards call otherwise than the engine (RFC 6749 section 5.2), by the engine's description. */
const RENAMED: Readonly<Record<string, readonly [status: number, error: string]>> = {
  'no client authentication mechanism provided': [401, 'invalid_client'],
  'requested grant type is not allowed for this client': [400, 'unauthorized_client'],
  'urn:ietf:params:oauth:grant-type:device_code is not allowed for this client': [
    400,
    'unauthorized_client',
  ],
};

/** The engine's events of refusals; what is a defect of ours is `server_error`. */
const EVENTS = [
  'authorization.error',
  'device_authorization.error',
  'discovery.error',
  'end_session.error',
  'end_session_confirm.error',
  'grant.error',
  'introspection.error',
  'jwks.error',
  'pushed_authorization_request.error',
  'revocation.error',
] as const;

/** Hears of the engine's refusals. */
export function noteRefusals(provider: Provider): void {
  for (const event of EVENTS) {
    // The types of the engine name only some of these events.
    (provider as NodeJS.EventEmitter).on(event, hear);
  }
}

/** What is refused around the engine, and what it calls by another name, told as the standards say. */
export async function refusals(ctx: KoaContextWithOIDC, next: Next): Promise<void> {
  try {
    await orTemporarilyUnavailable(next());
  } catch (error) {
    if (!(error instanceof errors.OIDCProviderError)) throw error;
    hear(ctx, error);
    ctx.status = error.statusCode;
    ctx.body = { error: error.error, error_description: error.error_description };
  }
  const { error_description: description = '' } = (ctx.body ?? {}) as Told;
  const [status, error] = RENAMED[description] ?? [];
  if (status !== undefined) {
    ctx.status = status;
    ctx.body = { error, error_description: description };
  }
  note(ctx.req, { client: ctx.oidc?.client?.clientId });
}

/** The reason goes to the line of the request: to the client the engine says less. */
function hear(ctx: KoaContextWithOIDC, error: Error): void {
  note(ctx.req, { reason: reasonOf(error) });
  if (error instanceof TooManyRequests) ctx.state['retryAfter'] = error.retryAfter;
}

interface Told {
  readonly error_description?: string;
}

/** The code and what stands behind it, which the engine keeps from the client. */
function reasonOf(error: Error): string {
  const { error_detail: detail, error_description: description } = error as EngineError;
  return [error.message, detail ?? description].filter(Boolean).join(': ');
}

type EngineError = Error & { readonly error_detail?: string; readonly error_description?: string };
