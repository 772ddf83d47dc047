import { type Answer, problemAnswer, UNSTORED } from '#shared/http/answer.ts';
import { within } from '#shared/base/within.ts';
import { type Endpoint, READ } from './endpoint.ts';

const WELL: Answer = {
  status: 200,
  fields: { ...UNSTORED, 'Content-Type': 'application/json' },
  body: JSON.stringify({ status: 'ok' }),
};

/**
 * The endpoints `/health/live` (the process runs) and `/health/ready` (it can do its work: `ready` resolves
 * within `deadline` milliseconds, else 503).
 */
export function health(ready: () => Promise<void>, deadline = 1000): ReadonlyMap<string, Endpoint> {
  async function whetherReady(): Promise<Answer> {
    try {
      await within(deadline, ready());
      return WELL;
    } catch {
      const detail = 'What this server depends on does not answer. Try again.';
      return problemAnswer(503, detail, { 'Retry-After': '1' });
    }
  }
  return new Map<string, Endpoint>([
    ['/health/live', { methods: READ, answer: () => WELL }],
    ['/health/ready', { methods: READ, answer: whetherReady }],
  ]);
}
