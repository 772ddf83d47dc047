import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { fewATurn } from '#shared/base/few-a-turn.ts';
import { atTurnsEnd } from '#shared/base/turn.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { subjectOf } from '../person.ts';
import type { Grounds, Outcome, Principal } from '../scheme.ts';

/** Milliseconds from look to look. */
const LOOK = 500;
/** Looks without an answer after which nobody stays whom it was about. */
const SILENT = 10;

export type Passed = Pick<
  Extract<Outcome, { kind: 'pass' }>,
  'principal' | 'application' | 'grounds'
>;

/** What had been revoked by a moment. */
export type Mark = Pick<RevocationView, 'epoch' | 'raises'>;

/** Who was let in, and what had been revoked before they were judged. */
export interface Who {
  readonly passed: Passed;
  readonly mark: Mark;
}

/**
 * `revoked`: it ends when somebody ends what let them in, as an answer does. `expired`: also when the time of that is
 * over, as a WebSocket does.
 */
export type Until = 'revoked' | 'expired';

/** Whether those who stay after they were let in, as with a WebSocket or a long answer, would be let in still. */
export interface Standing {
  /**
   * What is known here to be revoked, without asking the store: it costs a request next to nothing. To be taken
   * before they are judged, so that no change falls between. One that was made a moment before, and is not known here
   * yet, ends what began after it as well.
   */
  mark(): Mark;
  /**
   * Calls `end` once within a second of what ends them: the revocation of their token, the removal of their key,
   * whatever ends all of a person (another password, being disabled), and a store that does not answer for some
   * seconds. Never calls it for those whom nothing could end. The result ends the watch.
   */
  watch(who: Who, until: Until, end: (reason: string) => void): () => void;
  /** Whether nothing that let them in is revoked, as `watch` judges it. Rejects with `StoreUnavailable`. */
  holds(who: Who): Promise<boolean>;
}

interface Watched {
  readonly people: readonly string[];
  readonly mark: Mark;
  readonly until: Until;
  readonly end: (reason: string) => void;
}

/** What is asked at each look for all whom the answer is about. */
interface Question {
  readonly about: Set<Watched>;
  /** Whom the answer ends; throws or rejects when there is none. */
  ask(): Awaitable<Iterable<Watched>>;
  readonly reason: string;
  asking: boolean;
  /** Looks since the last answer. */
  silent: number;
}

/** `interval`: milliseconds from look to look. */
export function createStanding(
  feed: Pick<RevocationFeed, 'current' | 'latest'>,
  interval: number = LOOK,
): Standing {
  const all = new Set<Watched>();
  const people: Question = {
    about: new Set(),
    ask: () =>
      andThen(feed.latest(), (view) => [...people.about].filter((one) => isOver(one, view))),
    ...asked('all of the person was ended'),
  };
  /** By what their answer is about. */
  const byGrounds = new Map<string, Question>();
  /** What ends many ends a few at a time. */
  const queue = fewATurn();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const question of [people, ...byGrounds.values()]) {
      if (question.about.size === 0) continue;
      question.silent += 1;
      if (question.silent > SILENT) end(question.about, 'the store does not answer');
      if (!question.asking) put(question);
    }
  }

  function put(question: Question): void {
    question.asking = true;
    const answered = recover<void>(
      () =>
        andThen(question.ask(), (over) => {
          question.silent = 0;
          end(over, question.reason);
        }),
      () => {}, // it is silent
    );
    void andThen(answered, () => {
      question.asking = false;
    });
  }

  function end(over: Iterable<Watched>, reason: string): void {
    for (const one of over) {
      void queue().then(() => {
        if (all.has(one)) one.end(reason);
      });
    }
  }

  return {
    mark() {
      try {
        const { epoch, raises } = feed.current();
        return { epoch, raises };
      } catch (error) {
        if (error instanceof StoreUnavailable) return UNKNOWN;
        throw error;
      }
    },

    async holds({ passed: { principal, application, grounds = [] }, mark }) {
      const persons = [principal, application].flatMap(personOf);
      const view = persons.length > 0 ? await feed.latest() : undefined;
      if (view && isOver({ people: persons, mark }, view)) return false;
      const ends = await Promise.all(grounds.map(async (one) => one.end()));
      return !ends.includes('revoked');
    },

    watch({ passed: { principal, application, grounds = [] }, mark }, until, ended) {
      const persons = [principal, application].flatMap(personOf);
      const own = grounds.map(questionOf);
      if (people.about.size === 0) people.silent = 0;
      if (persons.length > 0) own.push(people);
      const watched: Watched = {
        people: persons,
        mark,
        until,
        end(reason) {
          stop();
          ended(reason);
        },
      };
      function stop(): void {
        all.delete(watched);
        for (const { about } of own) about.delete(watched);
        for (const { of } of grounds) if (byGrounds.get(of)?.about.size === 0) byGrounds.delete(of);
        if (all.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      }
      if (own.length === 0) return stop;
      all.add(watched);
      for (const { about } of own) about.add(watched);
      // All at once, so that the feed looks once for all of them.
      timer ??= setInterval(() => atTurnsEnd(look), interval);
      return stop;
    },
  };

  function questionOf(grounds: Grounds): Question {
    const { of } = grounds;
    const known = byGrounds.get(of);
    if (known) return known;
    const about = new Set<Watched>();
    const ask = () =>
      andThen(grounds.end(), (over) =>
        [...about].filter(({ until }) => over === 'revoked' || over === until),
      );
    const what = of.slice(0, of.lastIndexOf(' '));
    const question = { about, ask, ...asked(`the ${what} is not good any more`) };
    byGrounds.set(of, question);
    return question;
  }
}

/** Of a store that is silent: nobody who was let in meanwhile by what may end stays for long. */
const UNKNOWN: Mark = { epoch: undefined, raises: 0 };

const asked = (reason: string) => ({ reason, asking: false, silent: 0 });

/** A store of another memory knows nothing of what came before. */
function isOver({ people, mark }: Pick<Watched, 'people' | 'mark'>, view: RevocationView): boolean {
  return view.epoch !== mark.epoch || people.some((id) => view.raisedSince(id, mark.raises));
}

function personOf(principal: Principal | undefined): string[] {
  const id = principal?.kind === 'person' ? subjectOf(principal) : undefined;
  return id === undefined ? [] : [id];
}
