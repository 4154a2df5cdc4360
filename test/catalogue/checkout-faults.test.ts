import type { Draft } from '#domain/catalogue/events.ts'
import { faultless, faulty } from './faults.ts'

type Checkout = Draft['checkout']

const documented = (document_id: string, name = 'Policy summary'): Checkout['key_documents'][number] => ({
  document_id,
  version_id: document_id,
  kind: document_id,
  name,
  url: 'https://example.com/summary.pdf',
  file: null,
  given: 'before_bind',
})
const cancellation = { given: 'before_bind', statement: 'You have {cooldown_days} days.' } as const
const confirmation = { intro: 'This is what you buy.', points: ['For {product_name}.'], question: 'Is it right?' }
const [first, second] = ['6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f', '0d9e8c7b-6a5f-4e3d-9c2b-1a0f9e8d7c6b']

const buying =
  (checkout: Partial<Checkout>, changes: Partial<Draft> = {}) =>
  (of: Draft) =>
    Object.assign(of, changes, { checkout: { ...of.checkout, ...checkout } })

faultless(
  'a draft may say all that is shown before buying',
  buying({
    demands_and_needs: { required: true, statement: 'You want {product_name}.' },
    key_documents: [documented(first), documented(second)],
    collection_days: [1, 28],
    cancellation,
    confirmation,
  }),
)
faultless(
  'a required statement may be missing: that stops the sale',
  buying({ demands_and_needs: { required: true, statement: null } }),
)
faulty(
  'documents are told apart, and have names',
  buying({ key_documents: [documented(first), documented(first, ' ')] }),
  {
    'checkout.key_documents[1].kind': 'is that of another document: give each a key',
    'checkout.key_documents[1].name': 'must not be empty',
  },
)
faulty('premiums are collected on some day', buying({ collection_days: [] }), {
  'checkout.collection_days': 'must name at least one day',
})
for (const day of [0, 29])
  faulty(`premiums are never collected on day ${day}`, buying({ collection_days: [1, day] }), {
    'checkout.collection_days': 'must be days from 1 to 28',
  })
faulty('who has no days to cancel is told nothing of them', buying({ cancellation }, { cooldown_days: 0 }), {
  'checkout.cancellation': 'only with cooldown_days above 0',
})
faultless('a product may have no days to cancel', buying({ cancellation: null }, { cooldown_days: 0 }))

const unknown = 'cannot fill {nobody}; there are {'
faulty(
  'texts are filled with what is known of the sale only',
  buying({
    demands_and_needs: { required: true, statement: 'For {nobody} and {nothing}.' },
    cancellation: { ...cancellation, statement: '{nobody}' },
    confirmation: { intro: '{nobody}', points: ['{product_name}', '{nobody}'], question: '{nobody}' },
  }),
  {
    'checkout.demands_and_needs.statement': unknown,
    'checkout.cancellation.statement': unknown,
    'checkout.confirmation.intro': unknown,
    'checkout.confirmation.question': unknown,
    'checkout.confirmation.points[1]': unknown,
  },
)
faulty(
  'a text that cannot be filled says what can be',
  buying({ confirmation: { ...confirmation, intro: '{nobody}' } }),
  {
    'checkout.confirmation.intro': '}, {',
  },
)
