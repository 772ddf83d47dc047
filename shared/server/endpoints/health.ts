import { type Answer, problemAnswer, UNSTORED } from '#shared/http/answer.ts';
import { within } from '#shared/base/within.ts';
import type { AnyRequest } from '../message/message.ts';
import { note } from '../message/request-log.ts';
import { type Endpoint, READ } from './endpoint.ts';

const WELL: Answer = {
  status: 200,
  fields: { ...UNSTORED, 'Content-Type': 'application/json' },
  body: JSON.stringify({ status: 'ok' }),
};

/** Resolves if the server can do its work, else rejects. It calls `asks` with each thing that it depends on, before. */
export type Ready = (asks?: (dependency: string) => void) => Promise<void>;

interface HealthOptions {
  /** Milliseconds. */
  readonly deadline?: number;
  /** Returns an answer as this server gives it, with or without its reason. */
  readonly told?: (answer: Answer) => Answer;
}

/**
 * The endpoints `/health/live` (the process runs) and `/health/ready` (it can do its work: `ready` resolves
 * within `deadline` milliseconds, else 503). The log says which dependency has failed.
 */
export function health(
  ready: Ready,
  { deadline = 1000, told = (answer) => answer }: HealthOptions = {},
): ReadonlyMap<string, Endpoint> {
  async function whetherReady(request: AnyRequest): Promise<Answer> {
    let asked = 'this server';
    try {
      await within(
        deadline,
        ready((dependency) => (asked = dependency)),
      );
      return WELL;
    } catch (error) {
      const detail = 'What this server depends on does not answer. Try again.';
      const reason = `${asked}: ${error instanceof Error ? error.message : String(error)}`;
      note(request, { reason });
      return told({ ...problemAnswer(503, detail, { 'Retry-After': '1' }), reason });
    }
  }
  return new Map<string, Endpoint>([
    ['/health/live', { methods: READ, answer: () => WELL }],
    ['/health/ready', { methods: READ, answer: (request) => whetherReady(request) }],
  ]);
}
