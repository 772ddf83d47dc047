/** Hand-made answers, and a look at what was sent, for tests that are a server themselves. */
import { parseChallenges } from './challenges.ts';
import type { Challenge } from './challenges.ts';
import { valuesOf } from './exchange.ts';
import type { Exchange, Field, HttpRequest, HttpResponse } from './exchange.ts';

export function get(target: string): HttpRequest {
  return { method: 'GET', target, fields: [], content: Buffer.alloc(0) };
}

export function answer(status: number, fields: readonly Field[] = [], content = ''): HttpResponse {
  return { status, fields, content: Buffer.from(content), trailers: [] };
}

export function withTrailer(response: HttpResponse, trailer: Field): HttpResponse {
  return { ...response, trailers: [trailer] };
}

/** Returns the client's next request. Throws if it has finished. */
export async function sentBy(exchange: Exchange, response?: HttpResponse): Promise<HttpRequest> {
  const step = response === undefined ? await exchange.next() : await exchange.next(response);
  if (step.done === true) throw new Error(`the client has finished with ${step.value.status}`);
  return step.value;
}

/** The client's last word on an answer; throws when it wants to send more. */
export async function endOf(exchange: Exchange, response: HttpResponse): Promise<HttpResponse> {
  const step = await exchange.next(response);
  if (step.done !== true) throw new Error('the client goes on');
  return step.value;
}

/** The credentials of a request, which have the grammar of a challenge (RFC 9110 section 11.4). */
export function credentialsIn(request: HttpRequest, field = 'Authorization'): Challenge {
  const [credentials, ...more] = parseChallenges(valuesOf(request.fields, field));
  if (credentials === undefined || more.length > 0) throw new Error(`not one ${field}`);
  return credentials;
}
