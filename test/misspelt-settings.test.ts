import { expect, test } from 'vitest'
import { describeConfig } from '#infra/config.ts'
import { meantSettings } from '#infra/misspelt-settings.ts'

test.each([
  ['LOG_LEVL', 'LOG_LEVEL'],
  ['LOG_LEVLE', 'LOG_LEVEL'],
  ['log_level', 'LOG_LEVEL'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['KAFKA_BROKER', 'KAFKA_BROKERS'],
  ['RATE_LIMIT_REQUEST', 'RATE_LIMIT_REQUESTS'],
  ['ENVIRONMET', 'ENVIRONMENT'],
  ['MASTER_KEYS', 'MASTER_KEY'],
])('the variable %s is named at the start: %s is meant', (variable, meant) => {
  expect(meantSettings({ [variable]: '1' })).toEqual([{ variable, meant }])
})

test('settings of ours, and variables of others, are not named', () => {
  const ours = Object.fromEntries(describeConfig().map(({ name }) => [name, '1']))
  const others = {
    PATH: '1',
    HOSTNAME: '1',
    PGHOST: '1',
    NODE_ENV: '1',
    LOGNAME: '1',
    TERM: '1',
    HOSTS: '1',
    LANG: '1',
  }
  expect(meantSettings({ ...ours, ...others })).toEqual([])
})
