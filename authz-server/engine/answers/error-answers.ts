import { errors } from 'oidc-provider';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { note } from '#shared/server/message/request-log.ts';
import { formTooLong, orTemporarilyUnavailable, TooManyRequests } from '../../base/errors.ts';
import { type Cause, causeOf, type EngineRefusal } from '../../base/engine-causes.ts';
import { descriptionOf, reasonOf, type RefusingServer } from '../../base/reasons.ts';
import { remedyOf, withRemedy } from '../../base/remedies.ts';
import type { AuthzServer } from '../../base/server.ts';

type Next = () => Promise<unknown>;

/** The grant types of a client cannot be changed: docs/how-to/clients.md. */
const NOT_GRANTED =
  'this client is not registered for this grant type; the grant types of a client do not change, so register another with client add --grant';

/** The error codes for which the standards have another name than the engine (RFC 6749 section 5.2). */
const RENAMED: Readonly<
  Partial<Record<Cause, readonly [status: number, error: string, description?: string]>>
> = {
  'not-authenticated': [401, 'invalid_client'],
  'not-granted': [400, 'unauthorized_client', NOT_GRANTED],
};

/** The engine's events for refusals; its event for a defect is `server_error`. */
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

/** Listens to the engine's refusals. */
export function noteRefusals(provider: Provider, server: RefusingServer): void {
  for (const event of EVENTS) {
    // The types of the engine name only some of these events.
    (provider as NodeJS.EventEmitter).on(event, (ctx: KoaContextWithOIDC, error: Error) =>
      hear(ctx, error, server),
    );
  }
}

/**
 * Answers refusals outside the engine, and refusals to which the engine gives another code, as the standards say. In
 * development the description is specific. Each description says what to do.
 */
export function refusals(server: RefusingServer & Pick<AuthzServer, 'development'>) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    try {
      await orTemporarilyUnavailable(next());
    } catch (error) {
      if (error instanceof HttpError || error instanceof BadRequest)
        return refuse(ctx, error, server);
      if (!(error instanceof errors.OIDCProviderError)) throw error;
      hear(ctx, error, server);
      ctx.status = error.statusCode;
      ctx.body = { error: error.error, error_description: error.error_description };
    }
    const refused = ctx.state['refused'] as EngineRefusal | undefined;
    const cause = refused && causeOf(refused);
    if (cause === 'too-long') return refuse(ctx, formTooLong(), server);
    const { error_description: description } = (ctx.body ?? {}) as Told;
    if (description !== undefined) {
      const [status, error, words = description] = (cause && RENAMED[cause]) ?? [];
      const specific = server.development && refused && descriptionOf(ctx, refused, server);
      ctx.status = status ?? ctx.status;
      ctx.body = {
        ...(ctx.body as Told),
        ...(error !== undefined && { error }),
        error_description: specific || withRemedy(words),
      };
    }
    if (refused && typeof ctx.body === 'string') ctx.body = helpfulForm(ctx.body, refused);
    const location = ctx.response.get('Location');
    if (refused && location) ctx.set('Location', helpful(location));
    note(ctx.req, { client: ctx.oidc?.client?.clientId });
  };
}

/** Returns the address to which a browser takes an error, with what to do about the error. */
function helpful(location: string): string {
  return location.replace(/(?<=[?#&]error_description=)[^&#]*/, (coded) => {
    const [[, words = ''] = []] = new URLSearchParams(`_=${coded}`);
    return new URLSearchParams({ _: withRemedy(words) }).toString().slice(2);
  });
}

/** Returns the form of `response_mode=form_post` with what to do about its error. */
function helpfulForm(form: string, { error_description: words = '' }: EngineRefusal): string {
  const remedy = remedyOf(words);
  if (remedy === undefined) return form;
  return form.replace(
    /(?<=<input type="hidden" name="error_description" value=")[^"]*/,
    (shown) => `${shown}: ${remedy.replaceAll('&', '&amp;')}`,
  );
}

/** Answers with problem details, like the steps before the engine, if no standard of OAuth has a format. */
function refuse(ctx: KoaContextWithOIDC, error: Error, server: RefusingServer): void {
  const { status, fields, body } = errorAnswer(error);
  hear(ctx, error, server);
  ctx.status = status;
  ctx.body = body;
  ctx.set({ ...fields } as Record<string, string>);
}

/** Writes the reason into the log line of the request: the engine's answer to the client says less. */
function hear(ctx: KoaContextWithOIDC, error: Error, server: RefusingServer): void {
  const reason = reasonOf(ctx, error, server);
  const { error: code } = error as EngineRefusal;
  const cause = causeOf(error);
  note(ctx.req, { reason, error: code, cause: cause === 'other' ? undefined : cause });
  ctx.state['refused'] = error;
  if (error instanceof TooManyRequests) ctx.state['retryAfter'] = error.retryAfter;
}

interface Told {
  readonly error_description?: string;
}
