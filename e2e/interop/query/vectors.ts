import { isDeepStrictEqual } from 'node:util';
import { valuesOf } from '../../clients/digest/exchange.ts';
import type { HttpResponse, Send } from '../../clients/digest/exchange.ts';

/** The form of `vectors.json`, and how a vector is run. The README.md beside it says the same in words. */
export interface Vectors {
  readonly resources: Readonly<
    Record<string, { readonly type: string; readonly content: unknown }>
  >;
  readonly vectors: readonly Vector[];
}

export interface Vector {
  readonly section: string;
  readonly title: string;
  readonly steps: readonly Step[];
}

interface Step {
  readonly as?: string;
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly fields?: Readonly<Record<string, string>>;
    readonly content?: string;
    readonly base64?: string;
  };
  readonly response: {
    readonly status: number | string | readonly number[];
    readonly fields?: Readonly<Record<string, Expected>>;
    readonly json?: unknown;
    readonly content?: string;
  };
  /** Names under which values of response fields are kept for later steps. */
  readonly keep?: Readonly<Record<string, string>>;
}

type Expected =
  | null
  | { readonly pattern: string }
  | { readonly without: string }
  | { readonly kept: string }
  | { readonly not: string };

export interface Site {
  readonly send: Send;
  /** The URL to which the resources' paths are relative. */
  readonly base: string;
  /** The Authorization value of each caller. */
  readonly authorization: (as: string) => string;
}

/** Restores the initial state of the resources. */
export async function restore({ resources }: Vectors, site: Site): Promise<void> {
  for (const [target, { type, content }] of Object.entries(resources)) {
    const folder = target.slice(0, target.lastIndexOf('/') + 1);
    if (folder !== '') await ask({ method: 'MKCOL', target: folder }, site, 'owner', new Map());
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const put = { method: 'PUT', target, fields: { 'Content-Type': type }, content: text };
    const { status } = await ask(put, site, 'owner', new Map());
    if (status !== 201 && status !== 204) throw new Error(`PUT ${target}: ${status}`);
  }
}

/** Returns the faults in the responses to a vector; empty if all are right. */
export async function failuresOf({ steps }: Vector, site: Site): Promise<readonly string[]> {
  const kept = new Map<string, string>();
  const failures: string[] = [];
  for (const [index, { as = 'owner', request, response, keep = {} }] of steps.entries()) {
    const received = await ask(request, site, as, kept);
    const found = failuresIn(received, response, kept);
    failures.push(...found.map((failure) => `step ${index + 1}: ${failure}`));
    for (const [name, field] of Object.entries(keep)) {
      const value = valueOf(received, field);
      if (value === undefined) failures.push(`step ${index + 1}: there is no ${field}`);
      else kept.set(name, value);
    }
  }
  return failures;
}

function ask(
  { method, target, fields = {}, content = '', base64 }: Step['request'],
  { send, base, authorization }: Site,
  as: string,
  kept: ReadonlyMap<string, string>,
): Promise<HttpResponse> {
  const filled = (text: string) => text.replace(/\$([a-z]+)/, (all, name) => kept.get(name) ?? all);
  const own = Object.entries(fields).map(([name, value]) => [name, filled(value)] as const);
  return send({
    method,
    target: new URL(filled(target), base).href,
    fields: [['Authorization', authorization(as)], ...own],
    content: base64 === undefined ? Buffer.from(content) : Buffer.from(base64, 'base64'),
  });
}

function failuresIn(
  received: HttpResponse,
  expected: Step['response'],
  kept: ReadonlyMap<string, string>,
): readonly string[] {
  const { status, content } = received;
  const failures: string[] = [];
  if (!isStatus(status, expected.status))
    failures.push(`${status}, not ${String(expected.status)}`);
  for (const [name, wanted] of Object.entries(expected.fields ?? {})) {
    const value = valueOf(received, name);
    if (!isField(value, wanted, kept)) {
      failures.push(`${name}: ${value}, not ${JSON.stringify(wanted)}`);
    }
  }
  const text = content.toString();
  if (expected.content !== undefined && text !== expected.content) {
    failures.push(`${text}, not ${expected.content}`);
  }
  if (expected.json !== undefined && !isDeepStrictEqual(parsed(text), expected.json)) {
    failures.push(`${text}, not ${JSON.stringify(expected.json)}`);
  }
  return failures;
}

function isStatus(status: number, expected: Step['response']['status']): boolean {
  if (typeof expected === 'string') return `${Math.floor(status / 100)}xx` === expected;
  return [expected].flat().includes(status);
}

function isField(
  value: string | undefined,
  expected: Expected,
  kept: ReadonlyMap<string, string>,
): boolean {
  if (expected === null) return value === undefined;
  if (value === undefined) return false;
  if ('without' in expected) return !value.includes(expected.without);
  if ('pattern' in expected) return new RegExp(expected.pattern).test(value);
  return 'kept' in expected ? value === kept.get(expected.kept) : value !== kept.get(expected.not);
}

function valueOf({ fields }: HttpResponse, name: string): string | undefined {
  const values = valuesOf(fields, name);
  return values.length === 0 ? undefined : values.join(', ');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
