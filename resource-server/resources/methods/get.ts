import { notFound } from '#shared/http/answer.ts';
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
    if (entry.kind === 'collection') {
      if (!slash) return redirectToSlash(context, place);
      const listing = await listingOf(context, place, services);
      return represent(context, representationOf(listing), services);
    }
    const content = store.content.bind(store, entry);
    try {
      return await represent(context, { ...entry, content }, services);
    } catch (error) {
      if (!(error instanceof ContentGone)) throw error;
    }
    const current = await store.get(path);
    if (current?.kind === 'document' && current.file === entry.file) {
      throw new Error(`content ${entry.file} is missing`);
    }
    return read(context, { ...place, entry: current });
  }
};
