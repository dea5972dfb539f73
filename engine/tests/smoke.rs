//! First contact.
use memcards::*;
#[test]
fn remember_and_recall() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), Options::default()).unwrap();
    let t = store.tenant("anna").unwrap();
    for c in [
        "The spare key is under the blue pot.",
        "I have a cat named Miso",
        "X is allowed",
        "X is not allowed",
        "我喜欢喝绿茶",
        "order INC-90312 is late",
    ] {
        let r = t.remember(Remember { content: c.into(), ..Default::default() }).unwrap();
        println!("{c}: {r:?}");
    }
    for q in ["where is the key?", "which pets do I own?", "is X allowed?", "我喜欢什么茶", "INC-90312", "的"]
    {
        let r = t.recall(Recall { query: Some(q.into()), explain: true, ..Default::default() }).unwrap();
        println!(
            "{q}: {:?} {:?}",
            r.hits.iter().map(|h| (h.score, h.card.content.clone())).collect::<Vec<_>>(),
            r.searched
        );
        for h in &r.hits {
            assert!((h.parts.as_ref().unwrap().sum() - h.score).abs() < 1e-4);
        }
    }
    println!("{:?}", store.verify(|_| {}).unwrap());
    assert!(store.verify(|_| {}).unwrap().is_sound());
}
