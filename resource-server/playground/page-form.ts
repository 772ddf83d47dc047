import { isOfOrigin } from '#shared/auth/judge/of-origin.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Form } from './form.ts';

/** A form that a page of this origin has sent, and the address of the visitor. */
export interface PageForm {
  readonly form: Form;
  readonly visitor: string;
}

/** Receives a form. Rejects with `HttpError` 403 if no page of this origin sent the form, and 413 if it is too long. */
export async function receiveForm(
  request: AnyRequest,
  { origin, recipient }: { readonly origin: string; readonly recipient: Recipient },
  longest: number,
): Promise<PageForm> {
  const { method = '', url: target = '', headers } = request;
  const asked = authRequest(request, { method, target, origin }, recipient);
  if (!isOfOrigin(asked)) {
    throw new HttpError(403, 'Only a page of this origin sends this form.');
  }
  const tooLong = () => new HttpError(413, `The form has at most ${longest} bytes.`);
  const content = await wholeContent(request, longest, tooLong);
  return { form: { type: headers['content-type'], content }, visitor: asked.peer.address };
}
