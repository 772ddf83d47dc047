import { scopesOfCalls, type ToolScopes } from '#shared/auth/judge/tool-scopes.ts';
import { HttpError } from '#shared/http/answer.ts';
import { MalformedJson, parseJson } from '../resources/json/parse.ts';

/**
 * The scopes that the calls of a message need, or why it is not JSON, or the status and the reason of another refusal.
 */
export type Calls =
  | { readonly scopes: readonly string[] }
  | { readonly malformed: string }
  | { readonly status: number; readonly reason: string };

/** Reads a message in one pass. Duplicate names are refused, since servers differ in which one they use. */
export function callsIn(content: Buffer, tools: ToolScopes): Calls {
  try {
    return { scopes: scopesOfCalls(tools, parseJson(content)) };
  } catch (error) {
    if (error instanceof MalformedJson) return { malformed: error.message };
    if (error instanceof HttpError) return { status: error.status, reason: error.message };
    throw error;
  }
}
