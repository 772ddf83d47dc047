import { PASSING_KINDS, type Artefacts } from '../../oauth/artefacts.ts';

/** Joins the artefacts of both tables. Writes of `PASSING_KINDS` do not wait for the disk. */
export function artefactsByKind(lasting: Artefacts, passing: Artefacts): Artefacts {
  const of = (kind: string) => (PASSING_KINDS.has(kind) ? passing : lasting);
  return {
    put: (artefact) => of(artefact.kind).put(artefact),
    get: (kind, ...rest) => of(kind).get(kind, ...rest),
    getByUid: (kind, ...rest) => of(kind).getByUid(kind, ...rest),
    getByUserCode: (kind, ...rest) => of(kind).getByUserCode(kind, ...rest),
    consume: (kind, ...rest) => of(kind).consume(kind, ...rest),
    settle: (kind, ...rest) => of(kind).settle(kind, ...rest),
    replace: (artefact, was) => of(artefact.kind).replace(artefact, was),
    listByAccount: (kind, ...rest) => of(kind).listByAccount(kind, ...rest),
    countByAccount: (kind, ...rest) => of(kind).countByAccount(kind, ...rest),
    pageByClient: (kind, ...rest) => of(kind).pageByClient(kind, ...rest),
    remove: (kind, ...rest) => of(kind).remove(kind, ...rest),
    async removeByGrant(...grants) {
      await passing.removeByGrant(...grants);
      await lasting.removeByGrant(...grants);
    },
  };
}
