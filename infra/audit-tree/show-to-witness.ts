import type { GuardedHttp } from '../guarded-http.ts'
import { openNote, readNote, signatureLines, timeOfNote } from './signed-note.ts'
import type { Witness } from './witness.ts'

export type Submitted = {
  /** The size of the last checkpoint that the witness is known to have cosigned; 0: none. */
  readonly former: number
  readonly proof: readonly Buffer[]
  readonly note: string
}

export type WitnessAnswer =
  | { readonly outcome: 'cosigned'; readonly line: string; readonly at: Date }
  /** It has cosigned another size last. */
  | { readonly outcome: 'other_size'; readonly size: number }
  /** The log does not begin with what it has cosigned. */
  | { readonly outcome: 'not_consistent' }
  /** It cosigns none of this log, or signs otherwise than is known. */
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'unanswered'; readonly reason: string }

const submissionOf = ({ former, proof, note }: Submitted): string =>
  [`old ${former}`, ...proof.map((hash) => hash.toString('base64')), '', note].join('\n')

/** Shows a checkpoint to a witness, with the proof that the log has only grown. */
export const showToWitness = async (
  http: Pick<GuardedHttp, 'request'>,
  witness: Witness,
  submitted: Submitted,
): Promise<WitnessAnswer> => {
  const exchange = await http.request({
    method: 'POST',
    url: `${witness.url}/add-checkpoint`,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: submissionOf(submitted),
  })
  if (exchange.outcome !== 'answered') return { outcome: 'unanswered', reason: exchange.reason }
  const { status, body } = exchange
  switch (status) {
    case 200:
      return cosignedBy(witness, submitted.note, body.toString())
    case 409: {
      const size = /^(0|[1-9]\d{0,15})\n?$/.exec(body.toString())?.[1]
      return size === undefined
        ? { outcome: 'refused', reason: 'it answers 409 without a size' }
        : { outcome: 'other_size', size: Number(size) }
    }
    case 422:
      return { outcome: 'not_consistent' }
    case 404:
      return { outcome: 'refused', reason: 'it does not follow this log' }
    case 403:
      return { outcome: 'refused', reason: 'it does not know the key that signs this log' }
    case 429:
    case 503:
      return { outcome: 'unanswered', reason: `it answers ${status}` }
    default:
      return { outcome: 'refused', reason: `it answers ${status}` }
  }
}

const cosignedBy = ({ verifier }: Witness, note: string, answer: string): WitnessAnswer => {
  const text = readNote(note)?.text ?? ''
  const own = (signatureLines(answer) ?? []).filter(({ name, id }) => name === verifier.name && id === verifier.id)
  const [line] = own.map((each) => each.line)
  const cosigned = `${text}\n${line}`
  if (line === undefined || !openNote(cosigned, [verifier]))
    return { outcome: 'refused', reason: 'its signature is not that of its key' }
  const at = timeOfNote(cosigned, verifier)
  return at ? { outcome: 'cosigned', line, at } : { outcome: 'refused', reason: 'its signature names no time' }
}
