-- What the team wrote when it cancelled a policy is sealed under a key of the policy, which erasing the person left.
-- The table of policies is a read model: there is none yet in a new database.
do $$
begin
  if to_regclass('policies') is not null then
    update data_key as of_policy
    set sealed = null, organisation_key_version = null, erased_at = of_person.erased_at
    from policies, data_key as of_person
    where of_policy.organisation_id = policies.organisation_id::text
      and of_policy.subject = 'policy-' || policies.id
      and of_policy.erased_at is null
      and of_person.organisation_id = of_policy.organisation_id
      and of_person.subject = 'person:' || policies.customer_id
      and of_person.erased_at is not null;
  end if;
end
$$;
