import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { Bag, type Placed } from '#shared/base/bag.ts';
import { fewATurn } from '#shared/base/few-a-turn.ts';
import { atTurnsEnd } from '#shared/base/turn.ts';
import type { RevocationFeed, RevocationView } from '#shared/stores/revocation/revocations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { subjectOf } from '../person.ts';
import type { Grounds, Outcome, Principal } from '../scheme.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

/**
 * Milliseconds for which a verdict is valid; after them the client is judged again before its request is passed on or
 * carried out.
 */
export const JUDGED_FOR = 1000;
/** Milliseconds between two checks of what is watched. */
const LOOK = 500;
/** How many checks in a row may fail before the watched access ends. */
const SILENT = 10;

export type Passed = Pick<
  Extract<Outcome, { kind: 'pass' }>,
  'principal' | 'application' | 'grounds'
>;

/** The state of revocations at one moment. */
export type Mark = Pick<RevocationView, 'epoch' | 'raises'>;

/** The admitted principal, and the state of revocations before it was judged. */
export interface Who {
  readonly passed: Passed;
  readonly mark: Mark;
}

/**
 * `revoked`: access ends when its token or key is revoked, as for an answer. `expired`: access ends also when the
 * token or key expires, as for a WebSocket.
 */
export type Until = 'revoked' | 'expired';

/**
 * Watches principals that stay, as with a WebSocket or a long answer, and ends their access when they would no longer
 * be admitted.
 */
export interface Standing {
  /**
   * Returns the revocations that this process knows, without asking the store. Callers take it before they judge a
   * request, so that no change is missed. A revocation that this process learns later also ends access that began
   * shortly after it.
   */
  mark(): Mark;
  /**
   * Calls `end` once, within a second of an event that ends the access. Such events are the revocation of the token,
   * the removal of the key, a change that ends all access of the person, or a store that does not answer for some
   * seconds. It never calls `end` for principals that no event could end. Returns a function that stops the watch.
   */
  watch(who: Who, until: Until, end: (reason: string) => void): () => void;
  /**
   * Resolves to true if nothing that admitted the principal is revoked, as `watch` judges. Rejects with
   * `StoreUnavailable`.
   */
  holds(who: Who): Promise<boolean>;
}

interface Watched {
  /** False after the watch has ended. */
  on: boolean;
  readonly people: readonly string[];
  readonly mark: Mark;
  readonly until: Until;
  readonly end: (reason: string) => void;
}

/** A watch that the answer of one question concerns. */
interface Concerned extends Placed {
  readonly watched: Watched;
}

/** A question that is asked at each check, once for all watches that its answer concerns. */
interface Question {
  readonly about: Bag<Concerned>;
  /** Returns the watches that the answer ends; throws or rejects if there is no answer. */
  ask(): Awaitable<Iterable<Watched>>;
  readonly reason: string;
  asking: boolean;
  /** How many checks have failed since the last answer. */
  silent: number;
}

/** Creates a `Standing`. `interval`: milliseconds between two checks. */
export function createStanding(
  feed: Pick<RevocationFeed, 'current' | 'latest'>,
  interval: number = LOOK,
): Standing {
  /** How many watches are active. */
  let all = 0;
  const people: Question = {
    about: new Bag(),
    ask: () =>
      andThen(feed.latest(), (view) => watchedBy(people).filter((one) => isOver(one, view))),
    ...asked('all of the person was ended'),
  };
  /** Questions, by the name of the grounds that they ask about. */
  const byGrounds = new Map<string, Question>();
  /** Ends many watches, a few in each turn of the event loop. */
  const queue = fewATurn();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const question of [people, ...byGrounds.values()]) {
      if (question.about.size === 0) continue;
      question.silent += 1;
      if (question.silent > SILENT) end(watchedBy(question), 'the store does not answer');
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
      () => {}, // the question counts failures itself
    );
    void andThen(answered, () => {
      question.asking = false;
    });
  }

  function end(over: Iterable<Watched>, reason: string): void {
    for (const one of over) {
      void queue().then(() => {
        if (one.on) one.end(reason);
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
        on: own.length > 0,
        people: persons,
        mark,
        until,
        end(reason) {
          stop();
          ended(reason);
        },
      };
      const places = own.map(({ about }) => ({ about, one: { watched, place: -1 } }));
      function stop(): void {
        if (!watched.on) return;
        watched.on = false;
        for (const { about, one } of places) about.delete(one);
        for (const { of } of grounds) if (byGrounds.get(of)?.about.size === 0) byGrounds.delete(of);
        all -= 1;
        if (all > 0) return;
        clearInterval(timer);
        timer = undefined;
      }
      if (!watched.on) return stop;
      all += 1;
      for (const { about, one } of places) about.add(one);
      // One timer serves all questions, so that the feed is asked only once.
      timer ??= setInterval(() => atTurnsEnd(look), interval);
      return stop;
    },
  };

  function questionOf(grounds: Grounds): Question {
    const { of } = grounds;
    const known = byGrounds.get(of);
    if (known) return known;
    const ask = () =>
      andThen(grounds.end(), (over) =>
        watchedBy(question).filter(({ until }) => over === 'revoked' || over === until),
      );
    const what = of.slice(0, of.lastIndexOf(' '));
    const question: Question = {
      about: new Bag(),
      ask,
      ...asked(`the ${what} is not good any more`),
    };
    byGrounds.set(of, question);
    return question;
  }
}

/** The mark while the store does not answer: access that begins meanwhile, and that an event could end, soon ends. */
const UNKNOWN: Mark = { epoch: undefined, raises: 0 };

const watchedBy = ({ about }: Question) => about.toArray().map(({ watched }) => watched);

const asked = (reason: string) => ({ reason, asking: false, silent: 0 });

/**
 * True if the access has ended. A store with another epoch knows no earlier revocations, so another epoch ends the
 * access, too.
 */
function isOver({ people, mark }: Pick<Watched, 'people' | 'mark'>, view: RevocationView): boolean {
  return view.epoch !== mark.epoch || people.some((id) => view.raisedSince(id, mark.raises));
}

function personOf(principal: Principal | undefined): string[] {
  const id = principal?.kind === 'person' ? subjectOf(principal) : undefined;
  return id === undefined ? [] : [id];
}
