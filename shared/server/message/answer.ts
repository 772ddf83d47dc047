import type { Writable } from 'node:stream';
import { type Answer, HttpError, problemAnswer, UNSTORED } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { sendTogether } from '#shared/base/turn.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type AnyRequest, type AnyResponse, endWith, holdFields } from './message.ts';

/**
 * Returns the answer for an error, at the border between errors inside and answers outside: an unknown error gives an
 * answer without details.
 */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof HttpError) {
    const { status, message, fields, content, reason } = error;
    if (content === undefined) {
      return { ...problemAnswer(status, message, fields), ...(reason !== undefined && { reason }) };
    }
    const { type, body } = content;
    return { status, fields: { ...UNSTORED, ...fields, 'Content-Type': type }, body };
  }
  if (error instanceof BadRequest) return problemAnswer(400, error.message);
  if (error instanceof StoreUnavailable) {
    const answer = problemAnswer(503, 'The storage does not answer. Try again.', {
      'Retry-After': '1',
    });
    return { ...answer, reason: error.message };
  }
  if (isOutOfFiles(error)) {
    return problemAnswer(503, 'The server is busy. Try again.', { 'Retry-After': '1' });
  }
  return problemAnswer(500, 'The server could not do this. The reason is in its log.');
}

/** True if the process, or the system, has reached its limit of open files and connections. */
function isOutOfFiles(error: unknown): boolean {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return code === 'EMFILE' || code === 'ENFILE';
}

/**
 * Sends the answer, together with other answers of the same turn. HEAD gets the fields of GET without the content
 * (RFC 9110 section 9.3.2). Does nothing if the client has an answer already, such as a refusal of content that came
 * too slowly.
 */
export function send(
  request: AnyRequest,
  response: AnyResponse,
  answer: Answer<string | Uint8Array>,
): void {
  sendTogether(() => write(request, response, answer));
}

function write(
  request: AnyRequest,
  response: AnyResponse,
  answer: Answer<string | Uint8Array>,
): void {
  if (response.writableEnded) return;
  const { status, fields, body } = answer;
  const content: Writable = response;
  response.statusCode = status;
  holdFields(response, fields);
  // A cache may give this answer to another client, so it has no id of one request.
  if (fields['Cache-Control']?.includes('public')) response.removeHeader('X-Request-Id');
  if (body?.length) holdFields(response, { 'Content-Length': `${Buffer.byteLength(body)}` });
  if (request.method === 'HEAD' || !body?.length) content.end();
  else endWith(content, body);
}
