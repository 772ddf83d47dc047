import { allow, SERVED } from '#shared/http/methods.ts';
import { type Answer, problemAnswer } from '#shared/http/answer.ts';

const METHODS = ['GET', 'HEAD'];

async function within(milliseconds: number, promise: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('too late')), milliseconds);
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Answers `/health/live` (the process runs) and `/health/ready` (it can do its work: `ready`
 * resolves within `deadline` milliseconds, else 503). Undefined: the path is another, or nothing
 * here knows the method.
 */
export async function health(
  method: string,
  path: string,
  ready: () => Promise<void>,
  deadline = 1000,
): Promise<Answer | undefined> {
  if (path !== '/health/live' && path !== '/health/ready') return undefined;
  if (!SERVED.has(method)) return undefined;
  const Allow = allow(METHODS);
  if (method === 'OPTIONS') return { status: 204, fields: { Allow } };
  if (!METHODS.includes(method)) return problemAnswer(405, `Use one of ${Allow}.`, { Allow });
  if (path === '/health/ready') {
    try {
      await within(deadline, ready());
    } catch {
      const detail = 'What this server depends on does not answer. Try again.';
      return problemAnswer(503, detail, { 'Retry-After': '1' });
    }
  }
  const fields = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return { status: 200, fields, body: JSON.stringify({ status: 'ok' }) };
}
