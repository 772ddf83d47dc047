/** Handwritten answers, and helpers to read sent requests, for tests that act as the server. */
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

/** Returns the client's next request. Throws if the client has finished. */
export async function sentBy(exchange: Exchange, response?: HttpResponse): Promise<HttpRequest> {
  const step = response === undefined ? await exchange.next() : await exchange.next(response);
  if (step.done === true) throw new Error(`the client has finished with ${step.value.status}`);
  return step.value;
}

/** The client's final result for an answer; throws if the client sends another request. */
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
