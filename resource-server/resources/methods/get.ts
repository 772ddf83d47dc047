import { notFound } from '#shared/http/answer.ts';
import type { Entry } from '#shared/stores/trees/trees.ts';
import { checkIfField } from '../place/expected-state.ts';
import { listingOf } from '../representation/listing.ts';
import type { MethodFactory, Place } from '../place/place.ts';
import { redirectToSlash } from '../representation/redirect.ts';
import { ContentGone, represent, representationOf } from '../representation/representation.ts';
import type { ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';

/** GET and HEAD (RFC 9110 sections 9.3.1 and 9.3.2) of a document or of a collection's listing. */
export const get: MethodFactory = (services) => {
  return async (context, place) => {
    await checkIfField(context, place, services);
    return read(context, place);
  };

  async function read(context: ResourceContext, place: Place): Promise<ResourceAnswer> {
    const { store, entry, path, slash } = place;
    if (entry === undefined) throw notFound();
    if (entry.kind === 'collection' && !slash) return redirectToSlash(context, place);
    try {
      return await representEntry(context, place, entry);
    } catch (error) {
      if (!(error instanceof ContentGone)) throw error;
    }
    return read(context, { ...place, entry: await store.get(path) });
  }

  async function representEntry(context: ResourceContext, place: Place, entry: Entry) {
    const representation =
      entry.kind === 'collection'
        ? representationOf(await listingOf(context, place, services))
        : { ...entry, content: place.store.content.bind(place.store, entry) };
    return represent(context, representation, services);
  }
};
