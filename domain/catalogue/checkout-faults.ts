import { placeholderNames, unknownPlaceholders } from '../checkout/record.ts'
import type { Draft } from './events.ts'
import { eachOf, repeats, under, when, type Fault } from './faults.ts'

/** Faults in the checkout settings of a draft. A missing statement of demands and needs is none: it stops the sale. */
export const checkoutFaults = ({ checkout, cooldown_days }: Draft): readonly Fault[] => {
  const { demands_and_needs, key_documents, cancellation, confirmation, collection_days } = checkout
  return under(
    ['checkout'],
    [
      ...repeats('key_documents', key_documents, 'document_id').map(({ path: [list = '', index = 0] }) => ({
        path: [list, index, 'kind'],
        reason: 'is that of another document: give each a key',
      })),
      ...eachOf('key_documents', key_documents, ({ name }) => when(name.trim() === '', ['name'], 'must not be empty')),
      ...when(collection_days.length === 0, ['collection_days'], 'must name at least one day'),
      ...when(
        collection_days.some((day) => day < 1 || day > 28),
        ['collection_days'],
        'must be days from 1 to 28',
      ),
      ...when(cancellation !== null && cooldown_days === 0, ['cancellation'], 'only with cooldown_days above 0'),
      ...textFaults(['demands_and_needs', 'statement'], demands_and_needs.statement),
      ...textFaults(['cancellation', 'statement'], cancellation?.statement),
      ...textFaults(['confirmation', 'intro'], confirmation?.intro),
      ...textFaults(['confirmation', 'question'], confirmation?.question),
      ...(confirmation?.points ?? []).flatMap((point, index) => textFaults(['confirmation', 'points', index], point)),
    ],
  )
}

const textFaults = (path: Fault['path'], text: string | null | undefined): readonly Fault[] => {
  const unknown = unknownPlaceholders(text ?? '')
  return when(
    unknown.length > 0,
    path,
    `cannot fill {${unknown[0] ?? ''}}; there are ${placeholderNames.map((name) => `{${name}}`).join(', ')}`,
  )
}
