import { isPromise } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { LimitNamespace } from '#shared/stores/limits/limits.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { closedSet, eventLabel, kindLabel, limitLabel } from './labels.ts';
import type { Metrics } from './metrics.ts';

type Verb = (...given: readonly unknown[]) => unknown;
type Subject = Readonly<Record<string, unknown>>;

/** Counts a successful call of a verb, in addition to its time. */
type Counts = Readonly<Record<string, (result: unknown, given: readonly unknown[]) => void>>;

/**
 * Returns the stores with measured verbs. It measures the time of each verb; for a verb that opens something, the
 * time until it is open. It counts throttled attempts, revocations, and PrivateTokens, without the person or place.
 */
export function measuredStores(stores: Stores, metrics: Metrics, clock: Clock): Stores {
  const privateToken = (event: string) => metrics.count('privateTokens', 1, eventLabel(event));
  const counts: Counts = {
    'limits.spend': (spent, [namespace]) => {
      const { ok } = spent as { readonly ok: boolean };
      if (!ok) metrics.count('throttled', 1, limitLabel(namespace as LimitNamespace));
      else if (namespace === 'private-token') privateToken('issued');
      else if (namespace === 'private-token-verification') privateToken('verified');
    },
    'spentTokens.spend': (first) => privateToken(first === true ? 'redeemed' : 'replayed'),
    'revocations.revoke': (_, [kind]) => metrics.count('revocations', 1, kindLabel(String(kind))),
    'revocations.raise': (_, [kind]) => metrics.count('revocations', 1, kindLabel(String(kind))),
  };
  const subjects = Object.entries(stores).filter(([, subject]) => typeof subject === 'object');
  const operationLabel = closedSet(
    'operation',
    subjects.flatMap(([name, subject]) => verbsOf(subject).map((verb) => `${name}.${verb}`)),
  );

  function measured(operation: string, run: Verb): Verb {
    const label = operationLabel(operation);
    const count = counts[operation];
    return (...given) => {
      const began = clock.monotonic();
      const over = () =>
        metrics.observe('storeDuration', (clock.monotonic() - began) / 1000, label);
      const succeeded = (result: unknown) => {
        over();
        count?.(result, given);
        return result;
      };
      try {
        const result = run(...given);
        if (!isPromise(result)) return succeeded(result);
        void result.then(succeeded, over);
        return result;
      } catch (error) {
        over();
        throw error;
      }
    };
  }

  /** Values beside the verbs stay unchanged, such as the longest content that a store keeps. */
  const measuredSubject = (name: string, subject: object): object => ({
    ...subject,
    ...Object.fromEntries(
      verbsOf(subject).map((verb) => {
        const run = (subject as Record<string, Verb>)[verb] as Verb;
        return [verb, measured(`${name}.${verb}`, run.bind(subject))];
      }),
    ),
  });

  return {
    ...stores,
    ...Object.fromEntries(
      subjects.map(([name, subject]) => [name, measuredSubject(name, subject)]),
    ),
    recorded: (part, ...texts) =>
      measuredSubject(part, stores.recorded(part, ...texts)) as Stores[typeof part],
  };
}

/** Returns the names of all functions of a store, including those of its class. */
function verbsOf(subject: object): readonly string[] {
  const names = new Set<string>();
  for (let of: object | null = subject; of !== null && of !== Object.prototype;) {
    for (const name of Object.getOwnPropertyNames(of)) names.add(name);
    of = Object.getPrototypeOf(of) as object | null;
  }
  names.delete('constructor');
  return [...names].filter((name) => typeof (subject as Subject)[name] === 'function');
}
