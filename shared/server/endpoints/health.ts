import { type Answer, problemAnswer, UNSTORED } from '#shared/http/answer.ts';
import { within } from '#shared/base/within.ts';
import type { Need } from '#shared/stores/outage/need.ts';
import type { AnyRequest } from '../message/message.ts';
import { note } from '../message/request-log.ts';
import { type Endpoint, READ } from './endpoint.ts';

const WELL: Answer = {
  status: 200,
  fields: { ...UNSTORED, 'Content-Type': 'application/json' },
  body: JSON.stringify({ status: 'ok' }),
};

/** Called with the name of each dependency of the server before the dependency is checked. */
export type Asks = (dependency: string) => void;

/** Resolves if the server can do its work, or the part that works with a full disk; otherwise rejects. */
export type Ready = (need?: Need, asks?: Asks) => Promise<void>;

interface HealthOptions {
  /** Milliseconds. */
  readonly deadline?: number;
  /** Adds the reason to an answer or removes it, depending on the configuration. */
  readonly told?: (answer: Answer) => Answer;
}

/**
 * Creates the endpoints `/health/live` and `/health/ready`. `live` is 200 while the process runs. `ready` is 200 if
 * `ready` resolves within `deadline` milliseconds, otherwise 503; with `?for=reading` it covers only the work that is
 * possible with a full disk. The log names the dependency that has failed.
 */
export function health(
  ready: Ready,
  { deadline = 1000, told = (answer) => answer }: HealthOptions = {},
): ReadonlyMap<string, Endpoint> {
  async function whetherReady(request: AnyRequest, query: string | undefined): Promise<Answer> {
    const wanted = new URLSearchParams(query).getAll('for');
    if (wanted.some((one) => one !== 'reading')) {
      return problemAnswer(400, 'This address takes for=reading, or no for at all.');
    }
    const need = wanted.length > 0 ? 'reading' : 'all';
    let asked = 'this server';
    try {
      await within(
        deadline,
        ready(need, (dependency) => (asked = dependency)),
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
    [
      '/health/ready',
      { methods: READ, answer: (request, { query }) => whetherReady(request, query) },
    ],
  ]);
}
