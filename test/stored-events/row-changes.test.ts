import { expect, test } from 'vitest'
import { changesOf } from './row-changes.ts'

const row = { id: 1, status: 'open', document: { name: 'Ann', cover: { years: 10, joint: null } }, covers: [1, 2] }

test.each([
  ['a new row as a whole', undefined, row, row],
  ['nothing of a row that stays', row, structuredClone(row), {}],
  ['a field', row, { ...row, status: 'closed' }, { status: 'closed' }],
  [
    'a field of an object within it',
    row,
    { ...row, document: { ...row.document, cover: { years: 12, joint: null } } },
    { document: { cover: { years: 12 } } },
  ],
  ['a list as a whole', row, { ...row, covers: [1] }, { covers: [1] }],
  ['a field that is empty now', row, { ...row, document: null }, { document: null }],
  ['a field that is gone', row, { id: 1, status: 'open', covers: [1, 2] }, { '(gone)': ['document'] }],
  ['a field that is new', { id: 1 }, { id: 1, status: null }, { status: null }],
])('%s is recorded', (_name, before, after, changes) => {
  expect(changesOf(before, after)).toEqual(changes)
})
