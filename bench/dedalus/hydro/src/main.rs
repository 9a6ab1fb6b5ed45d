//! Voting on Hydro's dataflow runtime: `voting leader LISTEN PARTICIPANT...` and
//! `voting participant LISTEN SELF`. The leader sends each command to all
//! participants and answers when all have voted for it.
//!
//! Frames have their length in front, four bytes, big-endian. A client's frame is
//! an id of eight bytes and a value, which come back as the answer. A vote request
//! is the client's number, four bytes, and the client's frame; a vote is that with
//! the participant's number, one byte, in front.
//!
//! The transport is not the runtime's own, which awaits a write for each message:
//! frames for a connection are gathered while it is busy, as in what this is
//! measured beside. What has voted is kept in the state of a closure, which does not
//! go over all keys in each tick, as the runtime's folds do.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use bytes::{BufMut, Bytes, BytesMut};
use dfir_rs::dfir_syntax;
use futures::StreamExt;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::codec::{FramedRead, LengthDelimitedCodec};

/// A connection by its number, and what came or goes on it.
type Message = (u32, Bytes);

/// Where frames go out, by the number of the connection.
type Writers = Rc<RefCell<HashMap<u32, UnboundedSender<Bytes>>>>;

/// Reads frames of a connection into `to`, and writes those that are put under its
/// number into `writers`, as many at once as there are.
fn attach(stream: TcpStream, number: u32, to: UnboundedSender<Message>, writers: &Writers) {
    stream.set_nodelay(true).expect("set no delay");
    let (read, mut write) = stream.into_split();
    let (sender, mut queue): (UnboundedSender<Bytes>, UnboundedReceiver<Bytes>) = unbounded_channel();
    writers.borrow_mut().insert(number, sender);
    spawn_local(async move {
        let mut frames = FramedRead::new(read, LengthDelimitedCodec::new());
        while let Some(Ok(frame)) = frames.next().await {
            if to.send((number, frame.freeze())).is_err() {
                return;
            }
        }
    });
    spawn_local(async move {
        let mut ready = Vec::new();
        let mut buffer = BytesMut::new();
        while queue.recv_many(&mut ready, 4096).await > 0 {
            for frame in ready.drain(..) {
                buffer.put_u32(frame.len() as u32);
                buffer.put(frame);
            }
            if write.write_all(&buffer).await.is_err() {
                return;
            }
            buffer.clear();
        }
    });
}

/// Accepts connections and gives them numbers from 0.
fn accept(listener: TcpListener, to: UnboundedSender<Message>, writers: Writers) {
    spawn_local(async move {
        let mut number = 0;
        while let Ok((stream, _)) = listener.accept().await {
            attach(stream, number, to.clone(), &writers);
            number += 1;
        }
    });
}

fn send(writers: &Writers, (to, frame): Message) {
    if let Some(writer) = writers.borrow().get(&to) {
        let _ = writer.send(frame);
    }
}

async fn leader(listen: &str, participants: &[String]) {
    let (to_requests, requests) = unbounded_channel();
    let (to_votes, votes) = unbounded_channel();
    let clients: Writers = Default::default();
    let peers: Writers = Default::default();
    for (i, address) in participants.iter().enumerate() {
        let stream = TcpStream::connect(address).await.expect("connect to a participant");
        attach(stream, i as u32, to_votes.clone(), &peers);
    }
    let listener = TcpListener::bind(listen).await.expect("listen");
    println!("listening");
    accept(listener, to_requests, clients.clone());

    let n = participants.len() as u32;
    let all = (1u64 << n) - 1;
    let mut open: HashMap<(u32, u64), u64> = HashMap::new();
    let mut flow = dfir_syntax! {
        source_stream(UnboundedReceiverStream::new(requests))
            -> map(|(client, frame): Message| {
                let mut b = BytesMut::with_capacity(4 + frame.len());
                b.put_u32(client);
                b.put(frame);
                b.freeze()
            })
            -> flat_map(|request: Bytes| (0..n).map(move |p| (p, request.clone())))
            -> for_each(|m| send(&peers, m));
        source_stream(UnboundedReceiverStream::new(votes))
            -> map(|(_, vote): Message| {
                let client = u32::from_be_bytes(vote[1..5].try_into().unwrap());
                let id = u64::from_be_bytes(vote[5..13].try_into().unwrap());
                (client, id, vote[0], vote.slice(5..))
            })
            -> filter_map(|(client, id, from, answer): (u32, u64, u8, Bytes)| {
                let seen = open.entry((client, id)).or_insert(0);
                *seen |= 1 << from;
                if *seen != all {
                    return None;
                }
                open.remove(&(client, id));
                Some((client, answer))
            })
            -> for_each(|m| send(&clients, m));
    };
    flow.run().await;
}

async fn participant(listen: &str, number: u8) {
    let (to_requests, requests) = unbounded_channel();
    let leaders: Writers = Default::default();
    let listener = TcpListener::bind(listen).await.expect("listen");
    println!("listening");
    accept(listener, to_requests, leaders.clone());
    let mut flow = dfir_syntax! {
        source_stream(UnboundedReceiverStream::new(requests))
            -> map(|(leader, request): Message| {
                let mut b = BytesMut::with_capacity(1 + request.len());
                b.put_u8(number);
                b.put(request);
                (leader, b.freeze())
            })
            -> for_each(|m| send(&leaders, m));
    };
    flow.run().await;
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    tokio::task::LocalSet::new()
        .run_until(async move {
            match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["leader", listen, ..] if args.len() > 2 => leader(listen, &args[2..]).await,
                ["participant", listen, number] => participant(listen, number.parse().expect("a number below 64")).await,
                _ => {
                    eprintln!("usage: voting leader LISTEN PARTICIPANT... | voting participant LISTEN NUMBER");
                    std::process::exit(2);
                }
            }
        })
        .await;
}
